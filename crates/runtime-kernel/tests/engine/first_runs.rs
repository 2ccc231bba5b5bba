//! What a run does at its simplest: an answer, a tool, side by side, an approval, a pause.

use std::sync::Arc;

use futures_util::FutureExt as _;
use in_memory_fakes::{FakeModel, ModelStep, ToolStep};
use runtime_kernel::engine::{
    ControlError, Event, Refused, RunOptions, RunStatus, SteeringOutcome, SuspendedRun, Task,
    ToolPolicy,
};
use tokio::time::Instant;

use crate::stage::{agent, call, finish, ms, names, start, told, tool, tool_like, until, writing};

#[tokio::test(start_paused = true)]
async fn an_answer_completes_a_run_and_its_events_are_in_order() {
    let model = FakeModel::new([call("c1", "look"), ModelStep::text("Two.")]);
    let look = tool("look", [ToolStep::text("a, b")]);
    let agent = agent(&model).tool(look).build().expect("an agent");
    let (run, mut events) = start(&agent);
    let result = finish(&run).await;
    assert_eq!(result.final_answer.as_deref(), Some("Two."));
    assert_eq!(told(&result), ["user: do it", "call look", "result a, b", "assistant: Two."]);
    let expected = [
        "run_started",
        "cycle_started",
        "cycle_llm_response",
        "tool_call_planned",
        "tool_call_started",
        "tool_result",
        "cycle_started",
        "cycle_llm_response",
        "run_completed",
    ];
    assert_eq!(names(&mut events).await, expected);
}

#[tokio::test(start_paused = true)]
async fn parallel_tools_take_the_time_of_one() {
    let mut calls = ModelStep::empty();
    let mut tools = Vec::new();
    for number in 0..8 {
        let name = format!("slow{number}");
        calls = calls.and_call(format!("c{number}"), &name, serde_json::json!({}));
        let step = ToolStep::text("done").delay(ms(100));
        tools.push(tool_like(&name, |descriptor| descriptor.parallel = true, [step]));
    }
    let model = FakeModel::new([calls, ModelStep::text("all done")]);
    let mut builder = agent(&model);
    for tool in tools {
        builder = builder.tool(tool);
    }
    let started = Instant::now();
    let result = finish(&start(&builder.build().expect("an agent")).0).await;
    assert_eq!((result.status, started.elapsed()), (RunStatus::Completed, ms(100)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_model_call_ends_the_run_within_the_grace() {
    let model = FakeModel::new([ModelStep::stall()]);
    let agent = agent(&model).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "cycle_started").await;
    let report = run.cancel().await.expect("a report");
    assert_eq!(report.status, RunStatus::Cancelled);
    assert_eq!(report.unknown, ["model call"]);
    assert_eq!(names(&mut events).await, ["run_cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_given_through_the_handle_once() {
    let model = FakeModel::new([call("c1", "write"), ModelStep::text("written")]);
    let write = tool_like("write", writing, [ToolStep::text("ok").delay(ms(5))]);
    let agent =
        agent(&model).tool(write).policy(ToolPolicy::ask_for_effects()).build().expect("an agent");
    let (run, mut events) = start(&agent);
    let Event::ApprovalRequested { request_id, .. } =
        until(&mut events, "approval_requested").await
    else {
        panic!("another event")
    };
    run.approve(&request_id).await.expect("the first decision counts");
    let second = run.deny(&request_id, "no").await;
    assert!(matches!(second, Err(ControlError::Refused(Refused::AlreadyDecided { .. }))));
    assert_eq!(finish(&run).await.status, RunStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_run_goes_on_from_its_bytes() {
    let model = FakeModel::new([call("c1", "write"), ModelStep::text("written")]);
    let write = tool_like("write", writing, [ToolStep::text("ok")]);
    let agent =
        agent(&model).tool(write).policy(ToolPolicy::ask_for_effects()).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "approval_requested").await;
    let suspended = run.suspend().await.expect("an end").suspended().expect("it waits");
    assert_eq!(names(&mut events).await, ["run_suspended"]);

    let stored = SuspendedRun::from_json(suspended.as_json());
    let pending = stored.pending_approvals(&agent).expect("a stored run");
    let resumed = agent.resume(&stored).expect("the same agent");
    assert_eq!(&*pending[0].preview, "write {}");
    resumed.approve(&pending[0].request_id).await.expect("a decision");
    let result = finish(&resumed).await;
    let expected = ["user: do it", "call write", "result ok", "assistant: written"];
    assert_eq!(told(&result), expected);
}

#[tokio::test(start_paused = true)]
async fn steering_interrupts_a_batch_and_says_where_it_went() {
    let calls = call("c1", "first").and_call("c2", "second", serde_json::json!({}));
    let model = FakeModel::new([calls, ModelStep::text("as you like")]);
    let first = tool("first", [ToolStep::text("one").delay(ms(50))]);
    let second = tool("second", []);
    let agent = agent(&model).tool(first).tool(second).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    let receipt = run.steer("stop that").await.expect("it is accepted");
    assert_eq!(receipt.outcome().await, Ok(SteeringOutcome::Applied { cycle: 1 }));
    let result = finish(&run).await;
    assert_eq!(
        result.cycles[0].tool_results[1].error_code.as_deref(),
        Some("skipped_due_to_steering")
    );
    assert_eq!(told(&result)[5], "user: stop that");
    let late = run.steer("too late").await;
    assert!(matches!(late, Err(ControlError::NotLive)));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_is_lost_and_leaves_no_task() {
    let model = FakeModel::new([call("c1", "hang")]);
    let hang = tool("hang", [ToolStep::text("never").delay(ms(1_000_000))]);
    let held = Arc::new(hang.clone());
    let agent = agent(&model).tool(hang).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "tool_call_started").await;
    tokio::task::yield_now().await;
    assert_eq!(held.calls().len(), 1);
    drop(run);
    assert_eq!(names(&mut events).await, [] as [&str; 0]);
    let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(alive, 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_the_handle_was_dropped_still_counts() {
    let model = FakeModel::new([]);
    let agent = agent(&model).build().expect("an agent");
    let (run, driven) = agent.drive(Task::new("do it"), RunOptions::default());
    let mut cancel = Box::pin(async move { run.cancel().await });
    // The message is on its way, and its sender is gone.
    assert!(cancel.as_mut().now_or_never().is_none());
    drop(cancel);
    let end = driven.await.finished().expect("the run ends");
    assert_eq!(end.status, RunStatus::Cancelled);
    model.assert_script_done();
}

#[tokio::test(start_paused = true)]
async fn a_watcher_has_the_pieces_of_an_answer_when_it_asks_for_them() {
    let model = FakeModel::new([ModelStep::text("Hello.").in_pieces(3)]);
    let agent = agent(&model).build().expect("an agent");
    let options = RunOptions::default().with_deltas();
    let (_run, mut events) = agent.watch(Task::new("do it"), options);
    let expected = [
        "run_started",
        "cycle_started",
        "assistant_delta",
        "assistant_delta",
        "cycle_llm_response",
        "run_completed",
    ];
    assert_eq!(names(&mut events).await, expected);
}
