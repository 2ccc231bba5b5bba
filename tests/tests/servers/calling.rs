//! Decides how the checks ask a model, and what they keep of its answer.

use std::{sync::Arc, time::Duration};

use port_conformance::model::RecordedDeltas;
use runtime_ports::{
    GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole,
    ModelSession, OperationContext, PortFailure, ToolSet, Transcript,
};
use runtime_types::{ExecutionId, OperationId};

/// A fresh operation that may take this long.
pub(crate) fn operation(most: Duration) -> OperationContext {
    let id = OperationId::new(uuid::Uuid::new_v4().to_string()).expect("an id");
    let run = ExecutionId::new("servers").expect("an id");
    OperationContext::root(id, run, most)
}

/// One question, and at most this many tokens of answer.
pub(crate) fn question(model: &str, text: &str, most: u32) -> ModelRequest {
    ModelRequest {
        invocation_id: uuid::Uuid::new_v4().to_string().into(),
        model: model.into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, text)]),
        tools: ToolSet::default(),
        max_output_tokens: Some(most),
        options: Arc::new(GenerationOptions::default()),
    }
}

/// Asks, watching the deltas.
pub(crate) async fn ask(
    session: &dyn ModelSession,
    request: ModelRequest,
) -> (Result<ModelResponse, PortFailure>, RecordedDeltas) {
    let deltas = RecordedDeltas::default();
    let operation = operation(Duration::from_secs(120));
    let answered = session.invoke_streaming(&operation, request, &deltas).await;
    (answered, deltas)
}

/// All text of an answer.
pub(crate) fn text_of(response: &ModelResponse) -> String {
    let texts = response.output.iter().filter_map(|content| match content {
        ModelContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Broken with these words, unless it holds.
pub(crate) fn claim(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// The same words for every failure of a port.
pub(crate) fn told(failure: PortFailure) -> String {
    format!("{:?} {} {:?}: {}", failure.kind, failure.code, failure.commit, failure.message)
}
