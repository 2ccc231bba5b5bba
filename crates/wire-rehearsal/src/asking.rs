//! Decides how a test asks a session over the wire, and how what came of it reads in one line.
//!
//! Knows the values of the model port; nothing of any API.

use std::{sync::Arc, time::Duration};

use model_wire::Timeouts;
use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole, ModelSession,
    OperationContext, PortFailure, ToolSet, Transcript,
};
use runtime_types::{ExecutionId, OperationId};

use crate::playing::failed_line;

/// The key, which nothing may show.
pub const KEY: &str = "canary-key-5f1c";

/// What [`request`] says, which no failure may show.
pub const PROMPT: &str = "prompt-canary";

/// Short patience: 300 milliseconds.
pub const SHORT: Duration = Duration::from_millis(300);

/// Short patience in every phase of a request.
pub const SHORT_TIMEOUTS: Timeouts =
    Timeouts { connect: SHORT, head: SHORT, idle: SHORT, tail: SHORT };

/// An operation of its own that may take this long.
pub fn operation(limit: Duration) -> OperationContext {
    let (id, execution) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    OperationContext::root(OperationId::from(id), ExecutionId::from(execution), limit)
}

/// One message, [`PROMPT`], to the model `model`; 9 tokens at most.
pub fn request() -> ModelRequest {
    ModelRequest {
        invocation_id: "invocation".into(),
        model: "model".into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, PROMPT)]),
        tools: ToolSet::default(),
        max_output_tokens: Some(9),
        options: Arc::default(),
    }
}

/// Asks for [`request`], and waits for up to 20 seconds.
///
/// # Errors
/// Those of the session.
pub async fn ask(session: &impl ModelSession) -> Result<ModelResponse, PortFailure> {
    session.invoke(&operation(Duration::from_secs(20)), request()).await
}

/// How an answer stopped and its text; or the kind and code of a failure, what became of the
/// request, and how each attempt ended.
pub fn line(outcome: &Result<ModelResponse, PortFailure>) -> String {
    match outcome {
        Ok(response) => format!("{:?} {}", response.finish, text(response)),
        Err(failure) => {
            let ends: Vec<_> = failure.attempts.iter().map(|meter| meter.end).collect();
            format!("{} {ends:?}", failed_line(failure))
        }
    }
}

/// All text of an answer.
pub fn text(response: &ModelResponse) -> String {
    let texts = response.output.iter().filter_map(|content| match content {
        ModelContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
