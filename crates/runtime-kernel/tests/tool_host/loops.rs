//! The tool host behind the subagent loop: the model is told what it may not repeat.

use std::sync::Arc;

use in_memory_fakes::{FakeIntelligence, TurnScript};
use runtime_kernel::{
    AgentRuntime, AuditEvent, ContextBudget, Host, HostFuture, RunRequest, ToolCall, ToolHost,
    ToolOutcome,
};
use runtime_ports::{PortFailure, PortFailureKind};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::stage::{Acting, host, operation};

/// A host that leaves its tools to a [`ToolHost`].
struct Serving {
    tools: ToolHost,
}

impl Host for Serving {
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
        Ok(format!("{} {}", call.name, call.arguments))
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: ToolCall,
        _operation_id: Uuid,
        _budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async move { Ok(self.tools.execute(&operation(), call, 1).await.into()) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
        _budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async move { Ok(ToolOutcome::success(contents)) })
    }

    fn record(&mut self, _event: AuditEvent) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Spawned, because whoever runs a loop on a server will.
#[tokio::test]
async fn a_committed_write_that_failed_is_told_to_the_model_and_made_once() {
    let kind = PortFailureKind::Unavailable;
    let lost = PortFailure::committed(kind, "REPLY_LOST", "the reply was lost");
    let tool = Acting::giving("write", Err(lost));
    let calls = Arc::clone(&tool.calls);
    let told = r#"{"ok":false,"error":"the reply was lost; it took effect, do not repeat it","error_code":"REPLY_LOST","tool_name":"write"}"#;
    let script = TurnScript::new()
        .ktool("write", json!({ "path": "a" }), "call-1")
        .answered(false, told)
        .complete("It is written.");
    let intelligence = FakeIntelligence::new([script]);
    let runtime = AgentRuntime::new(Arc::new(intelligence.clone()));
    let mut serving = Serving { tools: host([tool]) };
    let request = RunRequest {
        user_id: "ada".to_owned(),
        parent_operation_id: Uuid::new_v4(),
        model: "fake-model".to_owned(),
        reasoning_effort: String::new(),
        context: vec![serving.tools.tool_description().to_owned()],
        task: "Write a.".to_owned(),
        timeout: None,
        start_metadata: Value::Null,
    };
    let run = tokio::spawn(async move { runtime.run(request, &mut serving).await });
    assert_eq!(run.await.expect("joined").expect("an answer").answer, "It is written.");
    assert_eq!(calls.lock().expect("calls").len(), 1);
    intelligence.assert_one_receipt_per_turn();
}
