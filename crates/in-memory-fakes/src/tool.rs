//! Decides what a scripted tool replies.
//!
//! Knows nothing about what the tool would do. Invariant: its descriptor never changes.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, ModelToolDefinition, OperationContext, PortFailure, Tool, ToolDescriptor,
    ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use serde_json::json;

use crate::{
    Step,
    fake_port::{FakePort, fake_port, scripted},
    model_step::shortened,
    script::Script,
};

/// One step of a tool's script.
pub type ToolStep = Step<ToolReply>;

/// A [`Tool`] that plays a script, one step for each call. Clones share it.
///
/// Name for a [`FaultPlan`](crate::FaultPlan): `tool.invoke`.
#[derive(Clone)]
pub struct FakeTool {
    port: FakePort<(), ToolInvocation>,
    script: Arc<Script<ToolStep>>,
    descriptor: Arc<ToolDescriptor>,
}

fake_port!(FakeTool, ToolInvocation);
scripted!(FakeTool);

impl Step<ToolReply> {
    /// Succeeds with this content.
    pub fn text(content: impl Into<String>) -> Self {
        Self::reply(ToolReply::text(content))
    }

    /// Fails in a way that the model is told about.
    pub fn error(code: impl Into<String>, content: impl Into<String>) -> Self {
        Self::reply(ToolReply::error(code, content))
    }
}

impl FakeTool {
    /// A tool of this name that plays these steps, described by
    /// [`default_descriptor`](Self::default_descriptor).
    #[must_use]
    pub fn new(name: impl Into<String>, steps: impl IntoIterator<Item = ToolStep>) -> Self {
        Self::described(Self::default_descriptor(name), steps)
    }

    /// A tool that plays these steps and declares this.
    #[must_use]
    pub fn described(
        descriptor: ToolDescriptor,
        steps: impl IntoIterator<Item = ToolStep>,
    ) -> Self {
        let script = Arc::new(Script::new("FakeTool", steps));
        Self { port: FakePort::new(()), script, descriptor: Arc::new(descriptor) }
    }

    /// A function that reads only, takes any object, runs alone for at most a minute, and shows at
    /// most 64 KiB.
    pub fn default_descriptor(name: impl Into<String>) -> ToolDescriptor {
        let name = name.into();
        let description = format!("the scripted tool {name}");
        let input_schema = json!({ "type": "object" });
        ToolDescriptor {
            definition: ModelToolDefinition { name, description, input_schema },
            kind: ToolKind::Function,
            effect: EffectClass::ReadOnly,
            idempotent: true,
            parallel: false,
            timeout: Duration::from_mins(1),
            output_limit_bytes: 64 * 1024,
            version: "1".to_owned(),
        }
    }
}

#[async_trait]
impl Tool for FakeTool {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        _world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let name = &self.descriptor.definition.name;
        let arguments = shortened(&call.arguments.to_string());
        let asked = format!("call {} of {name} with {arguments}", call.call_id);
        let effect = async { self.script.next(asked)?.play(operation).await };
        self.port.call_async(operation, "tool.invoke", call, effect).await
    }
}
