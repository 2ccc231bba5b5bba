//! Decides how a tool host is put on stage: tools made of closures, a world in memory.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use in_memory_fakes::{FakeArtifacts, FakeSessions};
use runtime_kernel::{ServedTool, ToolCall, ToolHost};
use runtime_ports::{
    EffectClass, ModelToolDefinition, OperationContext, PortFailure, Tool, ToolDescriptor,
    ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::{Value, json};

type Reply = Pin<Box<dyn Future<Output = Result<ToolReply, PortFailure>> + Send>>;

/// A tool that does what a closure says, and keeps what it was called with.
pub(crate) struct Acting {
    descriptor: ToolDescriptor,
    act: Box<dyn Fn(OperationContext, ToolInvocation) -> Reply + Send + Sync>,
    pub(crate) calls: Arc<Mutex<Vec<ToolInvocation>>>,
}

impl Acting {
    pub(crate) fn new<F>(
        name: &str,
        act: impl Fn(OperationContext, ToolInvocation) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolReply, PortFailure>> + Send + 'static,
    {
        let act = Box::new(move |operation, call| Box::pin(act(operation, call)) as Reply);
        Self { descriptor: descriptor(name), act, calls: Arc::default() }
    }

    /// A tool that always gives this.
    pub(crate) fn giving(name: &str, reply: Result<ToolReply, PortFailure>) -> Self {
        Self::new(name, move |_, _| std::future::ready(reply.clone()))
    }

    pub(crate) fn declaring(mut self, declare: impl FnOnce(&mut ToolDescriptor)) -> Self {
        declare(&mut self.descriptor);
        self
    }

    pub(crate) fn schema(self, schema: Value) -> Self {
        self.declaring(|descriptor| descriptor.definition.input_schema = schema)
    }
}

fn descriptor(name: &str) -> ToolDescriptor {
    ToolDescriptor {
        definition: ModelToolDefinition {
            name: name.to_owned(),
            description: format!("The tool {name}.\nOn two lines."),
            input_schema: json!({ "type": "object" }),
        },
        kind: ToolKind::Function,
        effect: EffectClass::External,
        idempotent: false,
        parallel: false,
        timeout: Duration::from_secs(10),
        output_limit_bytes: 1_000,
        version: "1".to_owned(),
    }
}

#[async_trait]
impl Tool for Acting {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        _world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        self.calls.lock().expect("calls").push(call.clone());
        (self.act)(operation.clone(), call).await
    }
}

pub(crate) fn world(artifacts: &FakeArtifacts) -> ToolWorld {
    let ports = FakeSessions::default().ports();
    ToolWorld {
        workspace: ports.workspace,
        interaction: ports.interaction,
        resources: ports.resources,
        artifacts: Arc::new(artifacts.clone()),
    }
}

pub(crate) fn host(tools: impl IntoIterator<Item = Acting>) -> ToolHost {
    host_over(tools, &FakeArtifacts::new())
}

pub(crate) fn host_over(
    tools: impl IntoIterator<Item = Acting>,
    artifacts: &FakeArtifacts,
) -> ToolHost {
    let tools = tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect();
    ToolHost::new(tools, world(artifacts)).expect("a host")
}

pub(crate) fn operation() -> OperationContext {
    let (id, execution) = (OperationId::new("turn"), ExecutionId::new("run"));
    OperationContext::root(id.expect("id"), execution.expect("id"), Duration::from_secs(60))
}

pub(crate) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { name: name.to_owned(), arguments }
}

/// Serves one call without arguments, in round 1.
pub(crate) async fn serve(host: &ToolHost, name: &str) -> ServedTool {
    host.execute(&operation(), call(name, json!({})), 1).await
}

/// What a model reads in a failed result.
pub(crate) fn error_of(served: &ServedTool) -> String {
    assert!(!served.ok, "{}", served.text);
    let told: Value = serde_json::from_str(&served.text).expect("a failure is JSON");
    assert_eq!(told["ok"], false);
    assert_eq!(told["tool_name"], served.name.as_str());
    assert_eq!(told["error_code"].as_str(), served.error_code.as_deref());
    told["error"].as_str().expect("an error").to_owned()
}
