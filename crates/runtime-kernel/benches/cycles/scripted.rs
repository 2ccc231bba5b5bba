//! Decides what model and tool do where cycles are measured: the same in every cycle, for next to
//! nothing.
//!
//! Knows nothing about who calls them. They keep nothing, so that their own cost is the same in
//! every cycle.

use std::time::Duration;

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse,
    ModelSession, ModelToolDefinition, OperationContext, PortFailure, TokenUsage, Tool,
    ToolDescriptor, ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use serde_json::json;

/// The model that is served.
pub(crate) const MODEL: &str = "scripted";

/// The tool that is called.
pub(crate) const LOOK: &str = "look";

/// Looks at a request before it is answered: its number, from 1, and itself.
pub(crate) type Look = Box<dyn Fn(u32, &ModelRequest) + Send + Sync>;

/// A model that makes one call in each of its first answers, and none in the last. It tells them
/// apart by the length of the history, which begins with one message.
pub(crate) struct Scripted {
    script: Script,
    look: Look,
}

/// What a model says.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    /// How many calls it makes.
    pub(crate) calls: u32,
    /// What it says with each of them, and at the end.
    pub(crate) text: &'static str,
    /// The tool of its last call; that of all others is [`LOOK`].
    pub(crate) last: &'static str,
    /// The one argument of each call, if it has one.
    pub(crate) path: Option<&'static str>,
}

impl Scripted {
    pub(crate) fn new(script: Script, look: Look) -> Self {
        Self { script, look }
    }

    fn answer(&self, number: u32) -> ModelResponse {
        let Script { calls, text, last, path } = self.script;
        let mut output = vec![ModelContent::text(text)];
        let mut finish = ModelFinish::Stop;
        if number <= calls {
            let arguments = path.map_or_else(|| json!({}), |path| json!({ "path": path }));
            // As long as the ids that providers give.
            let id = format!("call_{number:024}");
            let name = if number == calls { last } else { LOOK };
            output.push(ModelContent::ToolUse { id, name: name.to_owned(), arguments });
            finish = ModelFinish::ToolCalls;
        }
        let usage = TokenUsage { input_tokens: Some(10), ..TokenUsage::zero() };
        ModelResponse { output, finish, usage, cost_nano_usd: None, attempts: Vec::new() }
    }
}

#[async_trait]
impl ModelSession for Scripted {
    async fn invoke(
        &self,
        _operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        let number = u32::try_from(request.messages.len() / 2 + 1).unwrap_or(u32::MAX);
        (self.look)(number, &request);
        Ok(self.answer(number))
    }

    async fn profile(
        &self,
        _operation: &OperationContext,
        _model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        Ok(ModelProfile {
            context_window_tokens: u64::MAX,
            max_input_tokens: u64::MAX,
            max_output_tokens: None,
            images: false,
            price: None,
        })
    }
}

/// A tool that says the same every time.
pub(crate) struct Looking {
    descriptor: ToolDescriptor,
    content: String,
}

impl Looking {
    pub(crate) fn new(name: &str, content: &str) -> Self {
        let input_schema = json!({
            "type": "object",
            "properties": { "path": { "type": "string" } },
            "additionalProperties": false
        });
        let definition = ModelToolDefinition {
            name: name.to_owned(),
            description: "Shows a file.".to_owned(),
            input_schema,
        };
        let descriptor = ToolDescriptor {
            definition,
            kind: ToolKind::Function,
            effect: EffectClass::ReadOnly,
            idempotent: true,
            parallel: true,
            timeout: Duration::from_secs(10),
            output_limit_bytes: 1 << 20,
            version: "1".to_owned(),
        };
        Self { descriptor, content: content.to_owned() }
    }
}

#[async_trait]
impl Tool for Looking {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        _operation: &OperationContext,
        _world: &ToolWorld,
        _call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        Ok(ToolReply::text(self.content.as_str()))
    }
}
