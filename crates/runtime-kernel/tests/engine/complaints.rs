//! What users of other runtimes complain about, by its number in `docs/complaints.md`.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeModel, FakeTool, FakeTrace, Fault, FaultPlan, ModelStep, ToolStep};
use runtime_kernel::engine::{
    Agent, RunOptions, RunResult, RunStatus, SuspendedRun, Task, ToolPolicy, WatchOptions, Watched,
};
use runtime_ports::{
    CommitDisposition, ModelContent, ModelFinish, ModelMessage, ModelResponse, ModelRole,
    OperationContext, PortFailure, PortFailureKind, TokenUsage,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::{Value, json};

use crate::{
    oracle,
    probe::{Deed, Probe, World},
    stage::{agent, call, finish, ms, start, tool, tool_like, until, writing},
};

/// The messages of each request, as they are sent.
fn sent(model: &FakeModel) -> Vec<Vec<Value>> {
    let messages = |request: &runtime_ports::ModelRequest| {
        let messages = request.messages.messages();
        messages.map(|message| serde_json::to_value(message).expect("JSON")).collect()
    };
    model.requests().iter().map(messages).collect()
}

fn calls_of(ids: &[&str]) -> ModelMessage {
    let call = |id: &&str| ModelContent::ToolUse {
        id: (*id).to_owned(),
        name: "write".to_owned(),
        arguments: json!({}),
    };
    ModelMessage { role: ModelRole::Assistant, content: ids.iter().map(call).collect() }
}

fn result_of(id: &str) -> ModelMessage {
    let content = vec![ModelContent::ToolResult {
        tool_use_id: id.to_owned(),
        name: "write".to_owned(),
        content: "ok".to_owned(),
        failed: false,
    }];
    ModelMessage { role: ModelRole::Tool, content }
}

/// What the model was told of the calls, in order.
fn told_results(messages: &[Value]) -> Vec<(String, String)> {
    let contents = messages.iter().flat_map(|message| message["content"].as_array().into_iter());
    let results = contents.flatten().filter(|item| item["type"] == "tool_result");
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    results.map(|item| (text(item, "tool_use_id"), text(item, "content"))).collect()
}

#[tokio::test(start_paused = true)]
async fn c01_a_history_that_was_cut_within_its_calls_can_go_on() {
    let model = FakeModel::new([ModelStep::text("going on")]);
    let agent = agent(&model).tool(tool("write", [])).build().expect("an agent");
    let cut = vec![calls_of(&["a", "b", "c", "d"]), result_of("a")];
    let result = agent.run(Task::new("continue").after(cut)).await;
    assert_eq!(result.status, RunStatus::Completed);
    oracle::assert_paired(&result);
    let told = told_results(&sent(&model)[0]);
    let ids: Vec<_> = told.iter().map(|(id, _)| &**id).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert!(told[1..].iter().all(|(_, text)| text.contains("may have run")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn c01_a_run_that_was_cancelled_within_its_calls_can_be_followed_by_another() {
    let calls = call("a", "work").and_call("b", "hang", json!({})).and_call("c", "work", json!({}));
    let model = FakeModel::new([calls, ModelStep::text("going on")]);
    let world = Arc::default();
    let (work, hang) = (Deed::Works(ms(10)), Deed::Hangs);
    let agent = agent(&model)
        .tool(Probe::new(&world, "work", work))
        .tool(Probe::new(&world, "hang", hang))
        .build()
        .expect("an agent");
    let run = agent.start(Task::new("do it"));
    tokio::time::sleep(ms(100)).await;
    run.cancel().await.expect("the run lives");
    let history = finish(&run).await.history.messages().cloned().collect();
    let result = agent.run(Task::new("continue").after(history)).await;
    assert_eq!(result.final_answer.as_deref(), Some("going on"));
    oracle::assert_paired(&result);
}

#[tokio::test(start_paused = true)]
async fn c02_a_call_that_was_in_flight_stays_and_says_that_its_effect_is_unknown() {
    let model = FakeModel::new([ModelStep::text("I look first")]);
    let agent = agent(&model).tool(tool("write", [])).build().expect("an agent");
    agent.run(Task::new("continue").after(vec![calls_of(&["w"])])).await;
    let [request] = &sent(&model)[..] else { panic!("one request") };
    assert_eq!(request[0]["content"][0]["id"], "w");
    let told = told_results(request);
    assert!(told[0].1.contains("may have run, verify"), "{told:?}");
}

fn gated_and_free(model: &FakeModel, delete: &FakeTool, list: &FakeTool) -> Agent {
    agent(model)
        .tool(delete.clone())
        .tool(list.clone())
        .policy(ToolPolicy::ask_for_effects())
        .build()
        .expect("an agent")
}

/// A call that asks beside one that does not, suspended while it asks.
async fn asked_and_suspended(model: &FakeModel, delete: &FakeTool, list: &FakeTool) -> Vec<u8> {
    let (run, mut events) = start(&gated_and_free(model, delete, list));
    until(&mut events, "approval_requested").await;
    let suspended = run.suspend().await.expect("an end").suspended().expect("it waits");
    suspended.as_json().to_vec()
}

struct Paused {
    model: FakeModel,
    delete: FakeTool,
    list: FakeTool,
}

impl Paused {
    fn new() -> Self {
        let calls = call("d", "delete").and_call("l", "list", json!({}));
        let parallel = |descriptor: &mut runtime_ports::ToolDescriptor| descriptor.parallel = true;
        Self {
            model: FakeModel::new([calls, ModelStep::text("deleted")]),
            delete: tool_like("delete", writing, [ToolStep::text("gone")]),
            list: tool_like("list", parallel, [ToolStep::text("a, b")]),
        }
    }

    /// Goes on in what could be another process, under other options.
    async fn approved(&self, stored: &[u8], options: RunOptions) -> Arc<RunResult> {
        let agent = gated_and_free(&self.model, &self.delete, &self.list);
        let suspended = SuspendedRun::from_json(stored);
        let (run, _events) = agent.watch_resumed(&suspended, options).expect("the same agent");
        for question in suspended.pending_approvals(&agent).expect("a stored run") {
            run.approve(&question.request_id).await.expect("the question is open");
        }
        finish(&run).await
    }
}

#[tokio::test(start_paused = true)]
async fn c03_a_pause_for_an_approval_keeps_the_result_of_the_call_beside_it() {
    let paused = Paused::new();
    let stored = asked_and_suspended(&paused.model, &paused.delete, &paused.list).await;
    let result = paused.approved(&stored, RunOptions::default()).await;
    assert_eq!(result.final_answer.as_deref(), Some("deleted"));
    let told = told_results(&sent(&paused.model)[1]);
    assert_eq!(told, [("d".into(), "gone".into()), ("l".into(), "a, b".into())]);
    assert_eq!((paused.delete.calls().len(), paused.list.calls().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn c04_a_streamed_answer_with_a_call_is_sent_once_behind_what_was_sent() {
    let first = call("c1", "look").and_text("I look.").in_pieces(2);
    let model = FakeModel::new([first, ModelStep::text("Seen.").in_pieces(2)]);
    let look = tool("look", [ToolStep::text("a, b")]);
    let agent = agent(&model).tool(look).build().expect("an agent");
    let (run, driven) = agent.drive(Task::new("do it"), RunOptions::default());
    let _watched = run.events(WatchOptions { deltas: true, ..WatchOptions::default() });
    driven.await;
    let requests = sent(&model);
    let [before, after] = &requests[..] else { panic!("two requests") };
    assert_eq!(after[..before.len()], before[..]);
    let added: Vec<_> = after[before.len()..].iter().map(|message| &message["role"]).collect();
    assert_eq!(added, ["assistant", "tool"]);
    assert!(model.calls().iter().all(|call| call.streamed));
}

#[tokio::test(start_paused = true)]
async fn c05_what_was_sent_before_a_pause_is_sent_once_after_it() {
    let paused = Paused::new();
    let stored = asked_and_suspended(&paused.model, &paused.delete, &paused.list).await;
    paused.approved(&stored, RunOptions::default()).await;
    let requests = sent(&paused.model);
    let roles: Vec<_> = requests[1].iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool"]);
    let ids: Vec<_> = paused.model.requests().iter().map(|it| it.invocation_id.clone()).collect();
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test(start_paused = true)]
async fn c06_whoever_leaves_at_the_last_event_cuts_no_write() {
    let slow = (1..=4).fold(FaultPlan::new(), |plan, nth| {
        plan.before("trace.append", nth, Fault::Delay(ms(200)))
    });
    let trace = FakeTrace::new().with_faults(&slow);
    let model = FakeModel::new([ModelStep::text("done")]);
    let agent = agent(&model).trace(Arc::new(trace.clone())).build().expect("an agent");
    let (run, mut events) = start(&agent);
    while let Some(Watched::Event(event)) = events.next().await {
        if event.event.is_last() {
            break;
        }
    }
    drop((run, events));
    tokio::time::sleep(Duration::from_secs(10)).await;
    let kept = trace.records(&ExecutionId::new("run").expect("an id"));
    let kept: Vec<_> = kept.iter().map(|record| &*record.event_type).collect();
    assert_eq!(kept, ["run_started", "cycle_started", "cycle_llm_response", "run_completed"]);
}

#[tokio::test(start_paused = true)]
async fn c07_an_approval_counts_whatever_the_run_is_resumed_with() {
    let paused = Paused::new();
    let stored = asked_and_suspended(&paused.model, &paused.delete, &paused.list).await;
    let id = OperationId::new("another").expect("an id");
    let execution = ExecutionId::new("another").expect("an id");
    let other = OperationContext::root(id, execution, ms(60_000));
    let options = RunOptions::default().run_id("another").session_id("another").within(other);
    let result = paused.approved(&stored, options).await;
    assert_eq!((&*result.run_id, result.status), ("run", RunStatus::Completed));
    assert_eq!(paused.delete.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn c11_no_tool_runs_from_an_answer_that_was_cut() {
    let cut = ModelResponse {
        output: vec![ModelContent::ToolUse {
            id: "c1".into(),
            name: "write".into(),
            arguments: json!({}),
        }],
        finish: ModelFinish::Length,
        usage: TokenUsage::default(),
        cost_nano_usd: None,
        attempts: Vec::new(),
    };
    let model = FakeModel::new([ModelStep::response(cut)]);
    let write = tool("write", []);
    let agent = agent(&model).tool(write.clone()).build().expect("an agent");
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(result.error.as_ref().map(|error| &*error.code), Some("model_output_limit"));
    oracle::assert_paired(&result);
    assert_eq!(write.calls().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn c16_a_tool_whose_reply_was_lost_does_not_run_again_by_itself() {
    let model = FakeModel::new([call("c1", "count"), ModelStep::text("I look first")]);
    let world: Arc<World> = Arc::default();
    let count = Probe::new(&world, "count", Deed::LosesItsReply);
    let agent = agent(&model).tool(count).build().expect("an agent");
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(world.applied("c1"), 1);
    assert_eq!(oracle::records(&result)["c1"].commit, Some(CommitDisposition::Unknown));
    let told = told_results(&sent(&model)[1]);
    assert!(told[0].1.contains("may have taken effect, verify before you repeat it"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn c17_a_stream_that_breaks_is_not_asked_for_again() {
    let reset = PortFailure::in_flight_unknown(PortFailureKind::Unavailable, "RESET", "reset");
    let model = FakeModel::new([ModelStep::text("half of it").in_pieces(5).then_fail(reset)]);
    let agent = agent(&model).build().expect("an agent");
    let (run, driven) = agent.drive(Task::new("do it"), RunOptions::default());
    let mut events = run.events(WatchOptions { deltas: true, ..WatchOptions::default() });
    let result = driven.await.finished().expect("an end");
    let error = result.error.as_ref().expect("it failed");
    let failure = error.failure.as_ref().expect("a port failed");
    assert_eq!((&*error.code, &*failure.code), ("model_failed", "RESET"));
    assert_eq!(failure.commit, CommitDisposition::Unknown);
    let mut deltas = 0;
    while let Some(Watched::Event(event)) = events.next().await {
        deltas += usize::from(event.event.is_delta());
    }
    assert_eq!((model.calls().len(), deltas), (1, 2));
}
