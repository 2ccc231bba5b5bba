//! Whatever the code of others does, a run comes to one end in bounded time, and says what it
//! knows.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeModel, ModelStep};
use runtime_kernel::engine::{
    Agent, HookPoint, RunOptions, RunResult, RunStatus, Task, ToolPolicy, closed_world,
};
use runtime_ports::{CommitDisposition, ToolWorld};
use tokio::time::Instant;

use crate::{
    oracle,
    probe::{Deed, Probe, World},
    rogue::{Place, Rogue, Way},
    stage::{agent_of, call, ms},
};

const MODEL: Duration = ms(20_000);
const CALLBACK: Duration = ms(10_000);
const APPROVAL: Duration = ms(30_000);
const TOOL: Duration = ms(40_000);
/// What an effect is waited for once it is told to stop, with a grace of five seconds.
const GRACE: Duration = ms(4_500);

/// An agent that gates a call of `write`, whose reply is longer than the model may be shown.
fn agent(place: Place, way: Way) -> (Agent, Arc<World>) {
    let model = FakeModel::new([call("c1", "write"), ModelStep::text("well")]);
    model.unchecked();
    let rogue = Rogue { place, way, model };
    let world = Arc::new(World::default());
    let write = Probe::new(&world, "write", Deed::Works(ms(100))).within(TOOL).limited(4);
    let prompt = rogue.clone();
    let builder = agent_of(Arc::new(rogue.clone()))
        .tool(write)
        .policy(ToolPolicy::ask_for_effects())
        .hook(rogue.clone())
        .before_cycle(rogue.clone())
        .interruptions(rogue.clone())
        .approvals(rogue.clone())
        .interaction(Arc::new(rogue.clone()))
        .approval_prompt(move |request| prompt.prompt(request))
        .trace(Arc::new(rogue.clone()))
        .world(ToolWorld { artifacts: Arc::new(rogue), ..closed_world() })
        .model_timeout(MODEL)
        .callback_timeout(CALLBACK)
        .approval_timeout(APPROVAL);
    (builder.build().expect("an agent"), world)
}

/// How the run ended, in short: its error, or the code of its call.
fn ended(result: &RunResult) -> String {
    let record = result.cycles.first().and_then(|cycle| cycle.tool_results.first());
    let code = record.and_then(|record| record.error_code.as_deref()).unwrap_or("no error");
    let error = result.error.as_ref().map(|error| &*error.code);
    format!("{:?}: {}", result.status, error.unwrap_or(code))
}

fn places() -> Vec<(Place, &'static str, &'static str, Duration)> {
    let failed = |place, error| (place, error, error, CALLBACK + GRACE);
    let denied = |place, hangs| (place, hangs, "Completed: approval_broker_error", APPROVAL);
    let hooks = [
        HookPoint::BeforeMemoryCompact,
        HookPoint::BeforeLlm,
        HookPoint::AfterLlm,
        HookPoint::BeforeToolCall,
        HookPoint::AfterToolCall,
    ];
    let mut places = vec![
        failed(Place::Profile, "Failed: model_profile_failed"),
        (Place::Model, "Failed: model_failed", "Failed: model_failed", MODEL + GRACE),
        failed(Place::CycleInputs, "Failed: before_cycle_failed"),
        failed(Place::Interruptions, "Failed: interruption_provider_failed"),
        (
            Place::Provider,
            "Completed: approval_timeout",
            "Failed: approval_provider_failed",
            APPROVAL,
        ),
        denied(Place::Prepare, "Completed: approval_timeout"),
        denied(Place::Wait, "Completed: approval_timeout"),
        (Place::Trace, "Completed: no error", "Completed: no error", GRACE + ms(500)),
        (Place::Artifacts, "Completed: no error", "Completed: no error", TOOL),
    ];
    places.extend(hooks.map(|point| failed(Place::Hook(point), "Failed: hook_failed")));
    places
}

#[tokio::test(start_paused = true)]
async fn what_hangs_or_panics_ends_the_run_or_its_call_in_time() {
    for (place, hangs, panics, longest) in places() {
        for (way, expected) in
            [(Way::Hangs, hangs), (Way::DropsBadly, hangs), (Way::Panics, panics)]
        {
            let (agent, world) = agent(place, way);
            let began = Instant::now();
            let result = agent.run(Task::new("do it")).await;
            assert_eq!(ended(&result), expected, "{place:?} {way:?}");
            let took = began.elapsed();
            assert!(took <= longest + ms(200), "{place:?} {way:?} took {took:?}");
            check(&result, &world).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_hangs_does_not_hold_up_a_cancellation() {
    for (place, ..) in places() {
        for way in [Way::Hangs, Way::DropsBadly] {
            let (agent, world) = agent(place, way);
            let run = agent.start(Task::new("do it"));
            // The trace hangs beside the run, which is at its tool then.
            tokio::time::sleep(ms(if place == Place::Trace { 40 } else { 150 })).await;
            let began = Instant::now();
            let report = run.cancel().await.expect("the run lives");
            assert!(began.elapsed() <= ms(5_000), "{place:?} took {:?}", began.elapsed());
            let result = run.result().await.expect("an end").finished().expect("an end");
            oracle::assert_report(&report, &result, &[]);
            let is_hook = matches!(place, Place::Hook(_) | Place::Model);
            let found = (report.settled.len(), report.unknown.len());
            assert_eq!(found, if is_hook { (0, 1) } else { (1, 0) }, "{place:?}: {report:?}");
            assert_eq!(result.status, RunStatus::Cancelled, "{place:?}");
            drop(run);
            check(&result, &world).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_panics_denies_its_call() {
    let (agent, world) = agent(Place::Prompt, Way::Panics);
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(ended(&result), "Completed: approval_broker_error");
    check(&result, &world).await;
}

/// The run is whole and true, says no word of a panic, and nothing of it is alive.
async fn check(result: &RunResult, world: &World) {
    oracle::assert_paired(result);
    oracle::assert_true(result, world);
    let told = format!("{result:?}");
    assert!(!told.contains("SECRET"), "{told}");
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
    assert_eq!(world.at_work(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_misbehaves_costs_its_call_and_no_more() {
    use CommitDisposition::{NotCommitted, Unknown};

    let cases = [
        (Deed::Hangs, "tool_timeout", Unknown, ms(40_500)),
        (Deed::DropsBadly, "tool_timeout", Unknown, ms(40_500)),
        (Deed::Deaf(ms(100_000)), "tool_timeout", Unknown, ms(40_500)),
        (Deed::Panics, "tool_panicked", Unknown, ms(0)),
        (Deed::LosesItsReply, "LOST", Unknown, ms(0)),
        (Deed::Refuses, "DOWN", NotCommitted, ms(0)),
        // It says that it stopped before its effect, which is more than that its time was over.
        (Deed::Works(ms(100_000)), "tool_timeout", NotCommitted, ms(40_500)),
        (Deed::Works(ms(60_000)), "tool_timeout", Unknown, ms(40_500)),
    ];
    for (deed, code, commit, took) in cases {
        let model = FakeModel::new([call("c1", "write"), ModelStep::text("well")]);
        let world = Arc::new(World::default());
        let tool = Probe::new(&world, "write", deed).within(TOOL);
        let agent = agent_of(Arc::new(model)).tool(tool).build().expect("an agent");
        let began = Instant::now();
        let result = agent.run(Task::new("do it")).await;
        let record = &oracle::records(&result)["c1"];
        let said = (result.status, record.error_code.as_deref(), record.commit);
        assert_eq!(said, (RunStatus::Completed, Some(code), Some(commit)), "{deed:?}");
        assert!(began.elapsed() <= took, "{deed:?} took {:?}", began.elapsed());
        check(&result, &world).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_replies_when_it_is_told_to_stop_is_heard() {
    let model = FakeModel::new([call("c1", "write")]);
    let world = Arc::new(World::default());
    let tool = Probe::new(&world, "write", Deed::RepliesWhenTold).within(TOOL);
    let agent = agent_of(Arc::new(model)).tool(tool).build().expect("an agent");
    let (run, driven) = agent.drive(Task::new("do it"), RunOptions::default());
    let cancelling = async {
        tokio::time::sleep(ms(10)).await;
        run.cancel().await.expect("the run lives")
    };
    let (report, end) = tokio::join!(cancelling, driven);
    let result = end.finished().expect("an end");
    assert_eq!(report.settled, ["tool write (c1)"]);
    assert_eq!(oracle::records(&result)["c1"].error_code, None);
    check(&result, &world).await;
}
