//! Decides what model and tool do where cycles are measured: the same in every cycle, for next to
//! nothing.
//!
//! Knows nothing about who calls them. They keep nothing, so that their own cost is the same in
//! every cycle.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse,
    ModelSession, ModelToolDefinition, OperationContext, PortFailure, TokenUsage, Tool,
    ToolDescriptor, ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use serde_json::json;

/// The model that is served.
pub(crate) const MODEL: &str = "scripted";

/// Looks at a request before it is answered: its number, from 1, and itself.
pub(crate) type Look = Box<dyn Fn(u32, &ModelRequest) + Send + Sync>;

/// A model that makes one call in each of its first answers, and none in the last.
pub(crate) struct Scripted {
    calls: u32,
    text: String,
    answered: AtomicU32,
    look: Look,
}

impl Scripted {
    /// One that makes `calls` calls, each after `text`.
    pub(crate) fn new(calls: u32, text: &str, look: Look) -> Self {
        Self { calls, text: text.to_owned(), answered: AtomicU32::new(0), look }
    }

    fn answer(&self, number: u32) -> ModelResponse {
        let mut output = vec![ModelContent::text(self.text.as_str())];
        let mut finish = ModelFinish::Stop;
        if number <= self.calls {
            let arguments = json!({ "path": "notes/today.md" });
            let id = format!("call-{number:06}");
            output.push(ModelContent::ToolUse { id, name: "look".to_owned(), arguments });
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
        let number = self.answered.fetch_add(1, Ordering::Relaxed) + 1;
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
    pub(crate) fn new(content: &str) -> Self {
        let input_schema = json!({
            "type": "object",
            "properties": { "path": { "type": "string" } },
            "required": ["path"],
            "additionalProperties": false
        });
        let definition = ModelToolDefinition {
            name: "look".to_owned(),
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
