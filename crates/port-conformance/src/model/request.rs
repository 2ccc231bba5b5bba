//! Decides what the scenarios ask a model.
//!
//! Knows nothing about the answers. Every text has words of its own that can be found again in
//! what was sent.

use std::sync::Arc;

use runtime_ports::{
    DiscardDeltas, GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelResponse,
    ModelRole, ModelToolDefinition, OperationContext, PortFailure, ToolSet, Transcript,
};
use serde_json::{Value, json};

use super::{RecordedDeltas, StagedModel};
use crate::claim::operation;

/// A request for `model` with this history, without tools.
pub(super) fn request(model: &str, history: impl Into<Transcript>) -> ModelRequest {
    ModelRequest {
        invocation_id: "invocation-1".into(),
        model: model.into(),
        messages: history.into(),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::new(GenerationOptions::default()),
    }
}

/// A history of one question.
pub(super) fn question(text: &str) -> Transcript {
    Transcript::from(vec![ModelMessage::text(ModelRole::User, text)])
}

/// A tool that takes one path.
pub(super) fn tool(name: &str) -> ModelToolDefinition {
    ModelToolDefinition {
        name: name.into(),
        description: format!("description-of-{name}"),
        input_schema: json!({
            "type": "object",
            "properties": { format!("property_of_{name}"): { "type": "string" } },
        }),
    }
}

/// All text of an answer.
pub(super) fn text_of(response: &ModelResponse) -> String {
    let texts = response.output.iter().filter_map(|content| match content {
        ModelContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The tool calls of an answer, in order: identity, tool, arguments.
pub(super) fn calls_of(response: &ModelResponse) -> Vec<(&str, &str, &Value)> {
    let calls = response.output.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, arguments } => Some((&**id, &**name, arguments)),
        _ => None,
    });
    calls.collect()
}

impl StagedModel {
    /// A question that offers the tools `read` and `write`.
    pub(super) fn question(&self, text: &str) -> ModelRequest {
        let tools = ToolSet::new(vec![tool("read"), tool("write")]);
        ModelRequest { tools, ..request(&self.model, question(text)) }
    }

    /// Asks without watching the deltas.
    pub(super) async fn ask(&self, text: &str) -> Result<ModelResponse, PortFailure> {
        self.session.invoke(&operation(), self.question(text)).await
    }

    /// Asks under this operation, as a stream that nobody watches.
    pub(super) async fn ask_within(
        &self,
        operation: &OperationContext,
    ) -> Result<ModelResponse, PortFailure> {
        let request = self.question("question");
        self.session.invoke_streaming(operation, request, &DiscardDeltas).await
    }

    /// Asks and watches the deltas.
    pub(super) async fn ask_watching(
        &self,
        deltas: &RecordedDeltas,
    ) -> Result<ModelResponse, PortFailure> {
        let request = self.question("question");
        self.session.invoke_streaming(&operation(), request, deltas).await
    }
}
