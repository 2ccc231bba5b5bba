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

/// The code of the failure of a server that did not go on from the response that it was told, before
/// anything of its answer was shown.
pub(crate) const IGNORED: &str = "PREVIOUS_RESPONSE_IGNORED";

/// The same after something was.
pub(crate) const IGNORED_AMID: &str = "PREVIOUS_RESPONSE_IGNORED_AMID";

/// A server that read less than this part of what it read for the response before did not go on
/// from it. Not all is read again: some servers drop earlier reasoning.
const PART_READ: u64 = 2;

/// The events with which a response ends.
const ENDS: [&str; 5] = ["completed", "done", "incomplete", "failed", "cancelled"];

/// Whether something that lists output is a whole response: not an event which says that more is to
/// come, and not one of a type that nobody knows.
pub(super) fn is_whole(kind: &str, event: &Value) -> bool {
    let is_response = text(event, "object") == Some("response") || text(event, "status").is_some();
    match kind.strip_prefix("response.") {
        Some(event) => ENDS.contains(&event),
        None => kind.is_empty() || is_response,
    }
}

/// Whether a response, or the event that brings it, says what became of it.
pub(super) fn is_said(kind: &str, response: &Value) -> bool {
    let ends = kind.strip_prefix("response.").is_some_and(|event| ENDS.contains(&event));
    ends || text(response, "status").is_some()
}

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
    name.eq_ignore_ascii_case("error") || matches!(kind, "error" | "response.error")
}

/// From which response a response that was told one goes on, as far as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    is_said: bool,
    /// How many tokens were read for the response before.
    held: Option<u64>,
}

impl Origin {
    /// Nothing is said so far.
    pub(super) const fn behind(held: Option<u64>) -> Self {
        Self { is_said: false, held }
    }

    /// Takes what a response says. Whether it plainly goes on from nothing.
    pub(super) fn is_denied(&mut self, response: &Value) -> bool {
        let said = response.get("previous_response_id");
        self.is_said |= said.is_some_and(|id| !id.is_null());
        said == Some(&Value::Null)
    }

    /// Whether a response that says nothing was given to too little for a whole conversation.
    pub(super) fn is_refuted(self, counted: Option<u64>) -> bool {
        let too_little = |(held, counted): (u64, u64)| counted < held / PART_READ;
        !self.is_said && self.held.zip(counted).is_some_and(too_little)
    }
}

/// The failure of a response that does not go on from the one that it was told, with its code.
pub(super) fn ignored(code: &str) -> PortFailure {
    let message = "the server did not go on from the response that it was told, so that it answers \
                   to a part of the conversation only; it gets whole conversations from now on";
    failure::broken(code, message)
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
