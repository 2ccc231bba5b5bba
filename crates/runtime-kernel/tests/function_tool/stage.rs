//! Decides how a function is put on stage as the one tool of a host.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeArtifacts, FakeSessions};
use runtime_kernel::{FunctionTool, ServedTool, ToolCall, ToolHost};
use runtime_ports::{OperationContext, ToolWorld};
use runtime_types::{ExecutionId, OperationId};
use serde_json::Value;

pub(crate) fn world() -> ToolWorld {
    let ports = FakeSessions::default().ports();
    ToolWorld {
        workspace: ports.workspace,
        interaction: ports.interaction,
        resources: ports.resources,
        artifacts: Arc::new(FakeArtifacts::new()),
    }
}

pub(crate) fn operation() -> OperationContext {
    let (id, execution) = (OperationId::new("turn"), ExecutionId::new("run"));
    OperationContext::root(id.expect("id"), execution.expect("id"), Duration::from_secs(600))
}

pub(crate) fn host(tool: FunctionTool) -> ToolHost {
    ToolHost::new(vec![Arc::new(tool)], world()).expect("a host")
}

pub(crate) fn call(arguments: Value) -> ToolCall {
    ToolCall { name: "tool".to_owned(), arguments }
}

/// Serves one call of a tool called `tool`, in round 1.
pub(crate) async fn serve(tool: FunctionTool, arguments: Value) -> ServedTool {
    host(tool).execute(&operation(), call(arguments), 1).await
}

/// The code of a failed call, and what the model reads.
pub(crate) fn refusal(served: &ServedTool) -> (String, String) {
    let told: Value = serde_json::from_str(&served.text).expect("a failure is JSON");
    let error = told["error"].as_str().expect("an error").to_owned();
    (served.error_code.clone().expect("a code"), error)
}
