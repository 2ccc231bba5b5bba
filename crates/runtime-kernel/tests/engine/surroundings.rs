//! What surrounds a run: those who watch it, its trace, who decides, and hooks that misbehave.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, FakeTrace, Fault, FaultPlan, ModelStep, ToolStep};
use runtime_kernel::engine::{
    Agent, ApprovalProvider, CallbackError, Event, Hook, HookContext, HookDeclaration, HookPoint,
    NoToolPolicy, ProviderDecision, RequestEdits, RunOptions, RunStatus, Task, ToolPolicy,
    WatchOptions, Watched, approvals_from,
};
use runtime_ports::{PortFailure, PortFailureKind, ToolSet, Transcript};
use tokio::time::Instant;

use crate::stage::{agent, call, finish, ms, names, start, tool, tool_like, until, writing};

/// The names of the events that a trace has kept.
fn kept(trace: &FakeTrace) -> Vec<String> {
    let records = trace.records(&"run".parse().expect("an id"));
    records.into_iter().map(|record| record.event_type).collect()
}

#[tokio::test(start_paused = true)]
async fn a_trace_keeps_what_is_told_but_no_deltas() {
    let trace = FakeTrace::new();
    let model = FakeModel::new([call("c1", "look"), ModelStep::text("Two.").in_pieces(1)]);
    let look = tool("look", [ToolStep::text("a, b")]);
    let agent = agent(&model).tool(look).trace(Arc::new(trace.clone())).build().expect("an agent");
    let (run, mut plain) = start(&agent);
    let mut curious = run.events(WatchOptions { deltas: true, ..WatchOptions::default() });
    finish(&run).await;
    assert_eq!(run.trace_losses().await.expect("an end").events, 0);
    let told = names(&mut plain).await;
    assert_eq!(kept(&trace), told);
    let with_deltas = names(&mut curious).await;
    let deltas = with_deltas.iter().filter(|name| **name == "assistant_delta").count();
    assert_eq!(deltas, 4, "one for each piece");
    let rest: Vec<_> = with_deltas.into_iter().filter(|name| !name.contains("delta")).collect();
    assert_eq!(rest, told);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_never_waits_loses_nothing_of_its_trace() {
    const CYCLES: u32 = 600;
    let trace = FakeTrace::new();
    let model = FakeModel::new((0..CYCLES).map(|_| ModelStep::text("more to do")));
    let builder = agent(&model).no_tool_policy(NoToolPolicy::Continue).max_cycles(CYCLES);
    let agent = builder.trace(Arc::new(trace.clone())).build().expect("an agent");
    let (run, _events) = start(&agent);
    assert_eq!(finish(&run).await.status, RunStatus::MaxCycles);
    assert_eq!(run.trace_losses().await.expect("an end").events, 0);
    assert_eq!(kept(&trace).len(), 1 + 2 * CYCLES as usize + 1, "more than a backlog holds");
}

/// Runs to the end with a trace of such faults; gives its losses and what was kept.
async fn lossy(plan: FaultPlan) -> (RunStatus, u64, Vec<String>) {
    let trace = FakeTrace::new().with_faults(&plan);
    let model = FakeModel::new([ModelStep::text("Two.")]);
    let agent = agent(&model).trace(Arc::new(trace.clone())).build().expect("an agent");
    let (run, _events) = start(&agent);
    let status = finish(&run).await.status;
    (status, run.trace_losses().await.expect("an end").events, kept(&trace))
}

#[tokio::test(start_paused = true)]
async fn a_trace_that_fails_or_hangs_fails_no_run() {
    let full = PortFailure::rejected(PortFailureKind::Unavailable, "FULL", "it is full");
    let (status, lost, kept) = lossy(FaultPlan::new().before("trace.append", 1, full)).await;
    assert_eq!((status, lost), (RunStatus::Completed, 1));
    assert_eq!(kept, ["cycle_started", "cycle_llm_response", "run_completed"]);

    let start = Instant::now();
    let stuck = FaultPlan::new().before("trace.append", 3, Fault::Stall);
    let (status, lost, kept) = lossy(stuck).await;
    assert_eq!((status, lost), (RunStatus::Completed, 2));
    assert_eq!(kept, ["run_started", "cycle_started"]);
    assert_eq!(start.elapsed(), ms(5_000), "the grace and no more");

    let slow = FaultPlan::new().before("trace.append", 4, Fault::Delay(ms(200)));
    let (status, lost, kept) = lossy(slow).await;
    assert_eq!((status, lost, kept.len()), (RunStatus::Completed, 0, 4));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_takes_nothing_holds_up_nothing_and_gets_the_end() {
    let model = FakeModel::new([ModelStep::text("A long answer.").in_pieces(1)]);
    let agent = agent(&model).build().expect("an agent");
    let (run, _) = agent.watch(Task::new("do it"), RunOptions::default());
    let mut slow = run.events(WatchOptions { deltas: true, capacity: 2 });
    finish(&run).await;
    let mut got = Vec::new();
    while let Some(watched) = slow.next().await {
        got.push(match watched {
            Watched::Event(event) => event.event.name().to_owned(),
            Watched::Missed(count) => format!("missed {count}"),
        });
    }
    assert_eq!(got, ["missed 16", "cycle_llm_response", "run_completed"]);
    assert_eq!(slow.missed(), 16);
}

/// An agent that writes once, if the provider lets it; the tool has these steps.
fn asked_for_writes<const N: usize>(
    steps: [ToolStep; N],
    provider: impl ApprovalProvider + 'static,
) -> Agent {
    let model = FakeModel::new([call("c1", "write"), ModelStep::text("written")]);
    let write = tool_like("write", writing, steps);
    let builder = agent(&model).tool(write).policy(ToolPolicy::ask_for_effects());
    builder.approvals(provider).build().expect("an agent")
}

#[tokio::test(start_paused = true)]
async fn a_provider_may_think_for_as_long_as_an_approval_waits() {
    let agent = asked_for_writes(
        [ToolStep::text("ok")],
        approvals_from(|_, _| async {
            tokio::time::sleep(ms(9 * 60_000)).await;
            Ok(ProviderDecision::Approved)
        }),
    );
    let result = finish(&start(&agent).0).await;
    assert_eq!((result.status, &result.error), (RunStatus::Completed, &None));

    let began = Instant::now();
    let agent = asked_for_writes([], approvals_from(|_, _| std::future::pending()));
    let result = finish(&start(&agent).0).await;
    let code = result.cycles[0].tool_results[0].error_code.as_deref();
    assert_eq!((result.status, code), (RunStatus::Completed, Some("approval_timeout")));
    assert_eq!(began.elapsed(), ms(10 * 60_000));
}

/// Waits when it is called, and panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[async_trait]
impl Hook for Bomb {
    fn declaration(&self) -> HookDeclaration {
        HookDeclaration {
            name: "bomb".into(),
            points: vec![HookPoint::BeforeLlm],
            repeatable: true,
        }
    }

    async fn before_llm(
        &self,
        _: &HookContext,
        _: &Transcript,
        _: &ToolSet,
    ) -> Result<RequestEdits, CallbackError> {
        let _fuse = Self;
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_when_it_is_dropped_ends_no_run() {
    let model = FakeModel::new([]);
    let agent = agent(&model).hook(Bomb).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "cycle_started").await;
    run.cancel().await.expect("a report");
    assert_eq!(names(&mut events).await, ["run_cancelled"]);
    assert_eq!(finish(&run).await.status, RunStatus::Cancelled);
    // The hook itself, unlike its calls, is the embedder's to drop.
    drop(run);
    std::mem::forget(agent);
}

#[tokio::test(start_paused = true)]
async fn a_question_to_the_user_and_a_finish_end_their_runs() {
    let asks = ModelStep::tool_call("c1", "ask_user", serde_json::json!({"question": "Which?"}));
    let (run, mut events) = start(&agent(&FakeModel::new([asks])).build().expect("an agent"));
    let Event::RunWaitUser { wait_reason } = until(&mut events, "run_wait_user").await else {
        panic!("another event")
    };
    assert_eq!(&*wait_reason, "Which?");
    assert_eq!(finish(&run).await.status, RunStatus::WaitUser);

    let done = ModelStep::tool_call("c1", "task_finish", serde_json::json!({"message": "42"}));
    let builder = agent(&FakeModel::new([done])).no_tool_policy(NoToolPolicy::Continue);
    let result = finish(&start(&builder.build().expect("an agent")).0).await;
    assert_eq!(result.final_answer.as_deref(), Some("42"));
}
