//! Checks the tools over a workspace in memory.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeArtifacts, FakeInteraction, FakeResources, FakeWorkspace};
use runtime_ports::{
    OperationContext, PortFailure, Tool, ToolInvocation, ToolReply, ToolWorld, WorkspaceSession,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::{Value, json};

use crate::{declared::OUTPUT_LIMIT_BYTES, standard_tools};

mod artifacts;
mod declarations;
mod failures;
mod listing;
mod reading;
mod running;
mod searching;

fn operation() -> OperationContext {
    OperationContext::root(
        OperationId::new("operation").unwrap(),
        ExecutionId::new("execution").unwrap(),
        Duration::from_secs(3_600),
    )
}

fn tool(name: &str) -> Arc<dyn Tool> {
    let mut tools = standard_tools().into_iter();
    tools.find(|tool| tool.descriptor().definition.name == name).unwrap()
}

async fn call(
    workspace: &(impl WorkspaceSession + Clone + 'static),
    name: &str,
    arguments: Value,
) -> Result<ToolReply, PortFailure> {
    let world = ToolWorld {
        workspace: Arc::new(workspace.clone()),
        interaction: Arc::new(FakeInteraction::unavailable()),
        resources: Arc::new(FakeResources::new([] as [&str; 0])),
        artifacts: Arc::new(FakeArtifacts::new()),
    };
    let invocation = ToolInvocation {
        call_id: "call".into(),
        idempotency_key: "key".into(),
        arguments,
        shared_state: Arc::default(),
        metadata: Arc::default(),
        cycle: 1,
    };
    tool(name).invoke(&operation(), &world, invocation).await
}

/// The JSON of a success; it fits, and nothing else is in the reply.
async fn result(workspace: &FakeWorkspace, name: &str, arguments: Value) -> Value {
    let reply = call(workspace, name, arguments).await.unwrap();
    assert!(reply.content.len() <= OUTPUT_LIMIT_BYTES, "{} bytes", reply.content.len());
    let result = serde_json::from_str(&reply.content).unwrap();
    assert_eq!(reply, ToolReply::text(reply.content.clone()), "{result}");
    result
}

/// The code of an error that the model is told.
async fn told_error(workspace: &FakeWorkspace, name: &str, arguments: Value) -> String {
    let reply = call(workspace, name, arguments).await.unwrap();
    assert!(!reply.content.is_empty());
    reply.error_code.unwrap()
}
