//! How an agent serves as the tool of another one, and of a tool host.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, ModelStep, ToolStep};
use runtime_kernel::{
    ServedTool, ToolCall, ToolHost,
    engine::{Agent, AgentTool, Event, RunStatus, closed_world},
};
use runtime_ports::{
    CommitDisposition, EffectClass, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind, Tool as _, ToolKind,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::{Value, json};

use crate::stage::{
    agent, agent_of, call, finish, ms, start, told, tool, tool_like, until, writing,
};

fn operation() -> OperationContext {
    let (id, execution) = (OperationId::new("turn"), ExecutionId::new("outer"));
    OperationContext::root(id.expect("an id"), execution.expect("an id"), ms(60_000))
}

fn helper(model: &FakeModel) -> Agent {
    agent(model).max_cycles(2).build().expect("an agent")
}

fn as_tool(model: &FakeModel) -> AgentTool {
    helper(model).as_tool("helper", "Helps. Say what with.")
}

fn asking(task: &str) -> ModelStep {
    ModelStep::tool_call("1", "helper", json!({ "task": task }))
}

/// A model that panics.
struct Broken;

#[async_trait]
impl ModelSession for Broken {
    async fn invoke(
        &self,
        _: &OperationContext,
        _: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        panic!("the model breaks down")
    }

    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        panic!("the model breaks down")
    }
}

/// What the tool host tells of a call of the helper.
async fn served(tool: AgentTool, operation: &OperationContext, arguments: Value) -> ServedTool {
    let host = ToolHost::new(vec![Arc::new(tool)], closed_world()).expect("a tool");
    host.execute(operation, ToolCall { name: "helper".into(), arguments }, 1).await
}

async fn served_of(steps: impl IntoIterator<Item = ModelStep>) -> ServedTool {
    let model = FakeModel::new(steps);
    served(as_tool(&model), &operation(), json!({ "task": "help" })).await
}

fn outage() -> PortFailure {
    PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "the server is down")
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_run_is_the_content_of_the_reply() {
    let helping = FakeModel::new([ModelStep::text("It is 4.")]);
    let model = FakeModel::new([asking("Was ist 2·2?"), ModelStep::text("done")]);
    let parent = agent(&model).tool(as_tool(&helping)).build().expect("an agent");
    let result = finish(&start(&parent).0).await;
    assert_eq!(result.status, RunStatus::Completed);
    assert!(told(&result).contains(&"result It is 4.".to_owned()), "{:?}", told(&result));
    let history = format!("{:?}", helping.requests()[0].messages);
    assert!(history.contains("Was ist 2·2?") && !history.contains("do it"), "{history}");
    let facts = result.cycles[0].tool_results[0].metadata.clone().expect("facts");
    assert_eq!(facts["status"], "completed");
    assert!(facts["run_id"].as_str().is_some_and(|id| id.starts_with("task-")), "{facts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_host_serves_it_too() {
    let served = served_of([ModelStep::text("It is 4.")]).await;
    assert_eq!((served.ok, served.text.as_str()), (true, "It is 4."));
    assert_eq!(served.metadata["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_is_told_to_the_model() {
    let check = |served: ServedTool, code: &str, words: &[&str]| {
        assert!(!served.ok);
        assert_eq!(served.error_code.as_deref(), Some(code), "{}", served.text);
        for words in words {
            assert!(served.text.contains(words), "{words} in {}", served.text);
        }
    };
    let failed = served_of([ModelStep::fail(outage())]).await;
    check(failed, "sub_task_failed", &["DOWN: the server is down", "stays done"]);
    let endless = [call("1", "task_finish"), call("2", "task_finish")];
    let endless = served_of(endless).await;
    check(endless, "sub_task_failed", &["end of its cycles"]);
    let question = json!({ "question": "Wie viele Äpfel?" });
    let asked = served_of([ModelStep::tool_call("1", "ask_user", question)]).await;
    check(asked, "sub_task_wait_user", &["Wie viele Äpfel?", "new task"]);
    for arguments in [json!({}), json!({ "task": 7 }), json!({ "task": "a", "more": 1 })] {
        let model = FakeModel::new([]);
        let refused = served(as_tool(&model), &operation(), arguments).await;
        check(refused, "invalid_arguments_type", &[]);
    }
    let blank = served(as_tool(&FakeModel::new([])), &operation(), json!({ "task": " \n" })).await;
    check(blank, "invalid_arguments_type", &["not blank"]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_and_the_cancellation_of_the_call_are_the_runs() {
    let model = FakeModel::new([ModelStep::stall()]);
    let brief = as_tool(&model).timeout(ms(200));
    let late = served(brief, &operation(), json!({ "task": "help" })).await;
    assert_eq!(late.error_code.as_deref(), Some("tool_timeout"));
    assert_eq!(late.commit, Some(CommitDisposition::Unknown));

    let (model, operation) = (FakeModel::new([ModelStep::stall()]), operation());
    let calling = served(as_tool(&model), &operation, json!({ "task": "help" }));
    let cancelling = async {
        tokio::time::sleep(ms(100)).await;
        operation.cancellation.cancel();
    };
    let (cancelled, ()) = tokio::join!(calling, cancelling);
    assert_eq!(cancelled.error_code.as_deref(), Some("tool_cancelled"));
    assert_eq!(cancelled.commit, Some(CommitDisposition::Unknown));
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_parent_cancels_the_run_within_the_grace() {
    let helping = FakeModel::new([ModelStep::stall()]);
    let model = FakeModel::new([asking("help")]);
    let parent = agent(&model).tool(as_tool(&helping)).build().expect("an agent");
    let (run, mut events) = start(&parent);
    until(&mut events, "tool_call_started").await;
    tokio::time::sleep(ms(50)).await;
    let report = run.cancel().await.expect("a living run");
    assert_eq!(report.status, RunStatus::Cancelled);
    assert!(report.still_running.is_empty(), "{report:?}");
    assert_eq!(helping.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_ends_does_not_end_its_parent() {
    let helper = agent_of(Arc::new(Broken)).build().expect("an agent");
    let model = FakeModel::new([asking("help"), ModelStep::text("without help, then")]);
    let parent = agent(&model).tool(helper.as_tool("helper", "Helps.")).build().expect("an agent");
    let result = finish(&start(&parent).0).await;
    assert_eq!(result.status, RunStatus::Completed);
    let told = told(&result).join("\n");
    assert!(told.contains("sub_task_failed"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn runs_stand_side_by_side() {
    let slow = || ModelStep::text("done").delay(Duration::from_secs(3));
    let helping = FakeModel::new([slow(), slow(), slow()]);
    let calls = ["2", "3"]
        .into_iter()
        .fold(asking("help"), |step, id| step.and_call(id, "helper", json!({ "task": "help" })));
    let model = FakeModel::new([calls, ModelStep::text("all done")]);
    let parent = agent(&model).tool(as_tool(&helping)).build().expect("an agent");
    let began = tokio::time::Instant::now();
    let result = finish(&start(&parent).0).await;
    assert_eq!(result.status, RunStatus::Completed);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn its_declared_effect_is_the_gravest_of_its_tools() {
    let check = |agent: Agent, effect| {
        let tool = agent.as_tool("helper", "Helps.");
        let descriptor = tool.descriptor();
        assert_eq!((descriptor.effect, descriptor.kind), (effect, ToolKind::Agent));
        assert!(descriptor.parallel && !descriptor.idempotent);
    };
    let model = FakeModel::new([]);
    let no_steps = || [] as [ToolStep; 0];
    check(helper(&model), EffectClass::ReadOnly);
    let writes = tool_like("write", writing, no_steps());
    let reads = tool("read", no_steps());
    let both = agent(&model).tool(writes).tool(reads).build().expect("an agent");
    check(both, EffectClass::WorkspaceWrite);
}

#[tokio::test(start_paused = true)]
async fn a_run_says_where_it_comes_from() {
    let traces = in_memory_fakes::FakeTrace::new();
    let helping = FakeModel::new([ModelStep::text("done")]);
    let helper = agent(&helping).trace(Arc::new(traces.clone())).build().expect("an agent");
    let model = FakeModel::new([asking("help"), ModelStep::text("done")]);
    let parent = agent(&model).tool(helper.as_tool("helper", "Helps.")).build();
    let (run, mut events) = start(&parent.expect("an agent"));
    let Event::ToolCallStarted { .. } = until(&mut events, "tool_call_started").await else {
        panic!("another event")
    };
    finish(&run).await;
    let records = traces.records(&ExecutionId::new("run").expect("an id"));
    assert_eq!(records[0].payload["parent_run_id"], "run");
    assert_eq!(records[0].payload["parent_tool_call_id"], "1");
}
