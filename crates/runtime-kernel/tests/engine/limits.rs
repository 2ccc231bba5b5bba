//! When a run is ended from outside, it ends at that time and says so: by its own limit, by the
//! operation that it belongs to, or by its handle.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeModel, ModelStep};
use runtime_kernel::engine::{
    Agent, NotCancelled, RunOptions, RunResult, RunStatus, SuspendedRun, Task,
};
use runtime_ports::{CommitDisposition, OperationContext};
use runtime_types::{ExecutionId, OperationId};
use tokio::time::{Instant, sleep};

use crate::{
    oracle,
    probe::{Deed, Probe, World},
    rogue::{Place, Rogue, Way},
    stage::{agent, call, finish, ms, names, start, until},
};

/// What ended a run, in short.
fn ended(result: &Arc<RunResult>) -> (RunStatus, &str) {
    (result.status, result.error.as_ref().map_or("no error", |error| &*error.code))
}

const OVER_TIME: (RunStatus, &str) = (RunStatus::BudgetExhausted, "wall_time");
const CANCELLED: (RunStatus, &str) = (RunStatus::Cancelled, "run_cancelled");

fn hanging(world: &Arc<World>) -> (FakeModel, Probe) {
    let model = FakeModel::new([call("c1", "hang")]);
    (model, Probe::new(world, "hang", Deed::Hangs))
}

fn operation(timeout: Duration) -> OperationContext {
    let id = OperationId::new("outer").expect("an id");
    OperationContext::root(id, ExecutionId::new("outer").expect("an id"), timeout)
}

#[tokio::test(start_paused = true)]
async fn the_live_time_of_a_run_is_limited() {
    let stalls = FakeModel::new([ModelStep::stall()]);
    let run = agent(&stalls).wall_time(ms(700)).build().expect("an agent");
    let began = Instant::now();
    assert_eq!(ended(&run.run(Task::new("do it")).await), OVER_TIME);
    assert_eq!(began.elapsed(), ms(700));

    let world = Arc::default();
    let (model, tool) = hanging(&world);
    let run = agent(&model).tool(tool).wall_time(ms(700)).build().expect("an agent");
    let began = Instant::now();
    let result = run.run(Task::new("do it")).await;
    assert_eq!(ended(&result), OVER_TIME);
    assert!(began.elapsed() <= ms(5_700), "it took {:?}", began.elapsed());
    oracle::assert_paired(&result);
}

#[tokio::test(start_paused = true)]
async fn a_suspension_takes_no_live_time() {
    let model = FakeModel::new([call("c1", "work"), ModelStep::stall()]);
    let work = Probe::new(&Arc::default(), "work", Deed::Works(ms(60)));
    let agent = agent(&model).tool(work).wall_time(ms(100)).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    let suspended = run.suspend().await.expect("an end").suspended().expect("it waits");
    sleep(ms(1_000_000)).await;
    let began = Instant::now();
    let result = finish(&agent.resume(&suspended).expect("the same agent")).await;
    assert_eq!((ended(&result), began.elapsed()), (OVER_TIME, ms(40)));
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_with_the_operation_that_it_belongs_to() {
    let model = FakeModel::new([ModelStep::stall(), ModelStep::stall()]);
    let agent = agent(&model).build().expect("an agent");
    let run = agent.start_with(Task::new("a"), RunOptions::default().within(operation(ms(300))));
    let began = Instant::now();
    assert_eq!((ended(&finish(&run).await), began.elapsed()), (OVER_TIME, ms(300)));

    let outer = operation(ms(10_000));
    let run = agent.start_with(Task::new("b"), RunOptions::default().within(outer.clone()));
    sleep(ms(200)).await;
    outer.cancellation.cancel();
    assert_eq!((ended(&finish(&run).await), began.elapsed()), (CANCELLED, ms(500)));
}

#[tokio::test(start_paused = true)]
async fn a_child_never_cancels_the_operation_that_it_belongs_to() {
    let model = FakeModel::new([ModelStep::stall()]);
    model.unchecked();
    let agent = agent(&model).build().expect("an agent");
    let outer = operation(ms(10_000));
    let run = agent.start_with(Task::new("a"), RunOptions::default().within(outer.clone()));
    run.cancel().await.expect("the run lives");
    assert!(!outer.cancellation.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_cancelled_before_it_started_asks_no_model() {
    let model = FakeModel::new([]);
    let agent = agent(&model).build().expect("an agent");
    let outer = operation(ms(10_000));
    outer.cancellation.cancel();
    let run = agent.start_with(Task::new("a"), RunOptions::default().within(outer));
    assert_eq!(ended(&finish(&run).await), CANCELLED);

    let (run, driven) = agent.drive(Task::new("b"), RunOptions::default());
    let (report, end) = tokio::join!(biased; run.cancel(), driven);
    assert_eq!(report.expect("the run lives").unknown, [] as [&str; 0]);
    assert_eq!(ended(&end.finished().expect("an end")), CANCELLED);
    assert_eq!(model.calls().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_once_however_often_it_is_said() {
    let world = Arc::default();
    let (model, tool) = hanging(&world);
    let agent = agent(&model).tool(tool).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    let later = async {
        sleep(ms(1_000)).await;
        run.clone().cancel().await
    };
    let began = Instant::now();
    let (first, second, third) = tokio::join!(run.cancel(), run.cancel(), later);
    assert!(began.elapsed() <= ms(5_000), "the second put the end off");
    assert_eq!(first.as_ref().expect("a report").unknown, ["tool hang (c1)"]);
    assert_eq!((&first, &first), (&second, &third));
    assert_eq!(names(&mut events).await, ["tool_result", "run_cancelled"]);
    assert_eq!(run.cancel().await.expect("it is over").status, RunStatus::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_and_the_end_at_the_same_moment_agree() {
    let mut seen = Vec::new();
    for millis in 8..=12 {
        let model = FakeModel::new([ModelStep::text("done").delay(ms(10))]);
        let agent = agent(&model).build().expect("an agent");
        let (run, mut events) = start(&agent);
        sleep(ms(millis)).await;
        let report = run.cancel().await.expect("the run lives");
        let result = finish(&run).await;
        assert_eq!(report.status, result.status);
        let told = names(&mut events).await;
        let last =
            if result.status == RunStatus::Completed { "run_completed" } else { "run_cancelled" };
        assert_eq!(told.last(), Some(&last));
        seen.push(result.status);
    }
    assert_eq!((seen[0], seen[4]), (RunStatus::Cancelled, RunStatus::Completed));
}

#[tokio::test(start_paused = true)]
async fn the_end_comes_within_whatever_grace_there_is() {
    for grace in [Duration::ZERO, ms(1), ms(100), ms(60_000), Duration::MAX] {
        let world = Arc::default();
        let (model, tool) = hanging(&world);
        let trace = Rogue { place: Place::Trace, way: Way::Hangs, model: model.clone() };
        let agent = agent(&model).tool(tool).trace(Arc::new(trace)).grace(grace);
        let agent = agent.build().expect("an agent");
        let (run, mut events) = start(&agent);
        until(&mut events, "tool_call_started").await;
        let began = Instant::now();
        let report = run.cancel().await.expect("the run lives");
        assert_eq!(report.unknown, ["tool hang (c1)"]);
        // A grace beyond the clock is a year.
        let longest = grace.min(Duration::from_hours(365 * 24));
        assert!(began.elapsed() <= longest, "{grace:?}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_after_the_cancellation_is_kept() {
    let model = FakeModel::new([call("c1", "deaf"), ModelStep::text("never asked")]);
    model.unchecked();
    let world: Arc<World> = Arc::default();
    let deaf = Probe::new(&world, "deaf", Deed::Deaf(ms(2_000)));
    let agent = agent(&model).tool(deaf).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    let report = run.cancel().await.expect("the run lives");
    assert_eq!(report.settled, ["tool deaf (c1)"]);
    let result = finish(&run).await;
    assert_eq!(oracle::records(&result)["c1"].error_code, None);
    oracle::assert_true(&result, &world);
    assert_eq!((result.status, model.calls().len()), (RunStatus::Cancelled, 1));
}

#[tokio::test(start_paused = true)]
async fn a_suspended_run_is_cancelled_through_its_agent() {
    let model = FakeModel::new([call("c1", "work")]);
    let work = Probe::new(&Arc::default(), "work", Deed::Hangs);
    let agent = agent(&model).tool(work).build().expect("an agent");
    let suspended = suspend(&agent).await;
    let result = agent.cancel_suspended(&suspended).await.expect("the same agent");
    assert_eq!(ended(&result), CANCELLED);
    oracle::assert_paired(&result);
    let commit = oracle::records(&result)["c1"].commit;
    assert_eq!(commit, Some(CommitDisposition::Unknown));
}

async fn suspend(agent: &Agent) -> SuspendedRun {
    let (run, mut events) = start(agent);
    until(&mut events, "tool_call_started").await;
    let suspended = run.suspend().await.expect("an end").suspended().expect("it waits");
    assert_eq!(run.cancel().await, Err(NotCancelled::Suspended));
    suspended
}
