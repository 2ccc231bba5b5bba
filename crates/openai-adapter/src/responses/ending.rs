//! Decides what became of a response, and what of its output may be acted on.
//!
//! Knows nothing about how its items arrived. Invariant: of what an event says and what the
//! response says of itself, the worse counts; a cut answer has no call.

use model_wire::{
    Answer,
    answer::{error_of, text},
    failure,
};
use runtime_ports::{ModelContent, ModelFinish, PortFailure};
use serde_json::Value;

/// The code of the failure of a server that did not go on from the response that it was told.
pub(crate) const IGNORED: &str = "PREVIOUS_RESPONSE_IGNORED";

/// What became of a response. Later ones weigh more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    Completed,
    Incomplete,
    Failed,
}

impl Status {
    /// What a response says of itself, in so far as it is bad.
    pub(super) fn of(response: &Value) -> Self {
        let is_cut = response.get("incomplete_details").is_some_and(|details| {
            details.as_object().is_some_and(|fields| fields.values().any(|value| !value.is_null()))
        });
        match text(response, "status") {
            _ if error_of(response).is_some() => Self::Failed,
            Some("failed" | "cancelled" | "canceled" | "error") => Self::Failed,
            Some("incomplete") => Self::Incomplete,
            _ if is_cut => Self::Incomplete,
            _ => Self::Completed,
        }
    }

    /// The same of a document, which nobody said to be complete but itself.
    pub(super) fn of_document(response: &Value) -> Self {
        match text(response, "status") {
            None | Some("completed") => Self::of(response),
            Some("incomplete") => Self::Incomplete,
            _ => Self::Failed,
        }
    }
}

/// Whether an event says of itself that it is an error.
pub(super) fn is_error(name: &str, kind: &str) -> bool {
    name == "error" || matches!(kind, "error" | "response.error")
}

/// The failure of a response that does not go on from the one that it was told.
pub(super) fn ignored() -> PortFailure {
    let message = "the server did not go on from the response that it was told, so that it answers \
                   to a part of the conversation only; it gets whole conversations from now on";
    failure::broken(IGNORED, message)
}

/// The id of a call.
pub(super) fn call_id(content: &ModelContent) -> Option<&str> {
    match content {
        ModelContent::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

/// A whole answer with calls asks for tools; any other loses its calls.
pub(super) fn settled(mut output: Vec<ModelContent>, finish: ModelFinish, cut: bool) -> Answer {
    let is_call = |content: &ModelContent| call_id(content).is_some();
    let finish = match finish {
        ModelFinish::Stop | ModelFinish::Other if cut => ModelFinish::Length,
        ModelFinish::Stop if output.iter().any(is_call) => ModelFinish::ToolCalls,
        other => other,
    };
    if cut || !finish.is_complete() {
        output.retain(|content| !is_call(content));
    }
    Answer { output, finish }
}
