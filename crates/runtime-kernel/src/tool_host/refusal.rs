//! Decides what a model is told of a call that came to no reply.
//!
//! Knows nothing about how a call is served. Invariant: the words say whether something was
//! changed, and come from the disposition, not from the kind of the failure.

use runtime_ports::{
    CommitDisposition, Interruption, OperationContext, PortFailure, PortFailureKind, ToolDirective,
};
use serde_json::Map;

use super::{ServedTool, outcome::failure_text};
use crate::{argument_schema::Fault, bridge::NAME_MAX_BYTES, disposition};

const TIMEOUT: &str = "tool_timeout";
const CANCELLED: &str = "tool_cancelled";

/// Longest words of a tool on its own failure that are passed on.
const MAX_MESSAGE_BYTES: usize = 2_000;

/// Longest code of a failure.
pub(super) const MAX_CODE_BYTES: usize = 100;

/// A call without a reply.
pub(super) struct Refusal {
    code: String,
    message: String,
    commit: CommitDisposition,
}

impl Refusal {
    pub(super) fn tool_not_found() -> Self {
        let message = "there is no tool of this name, call one of the listed tools";
        Self::before("tool_not_found", message)
    }

    pub(super) fn arguments_not_an_object() -> Self {
        let message = "arguments must be a JSON object, write them as one";
        Self::before("invalid_arguments_payload", message)
    }

    pub(super) fn arguments_do_not_fit(fault: &Fault) -> Self {
        let message = match fault.path.as_str() {
            "" => format!("the arguments {}", fault.reason),
            path => format!("argument {path} {}", fault.reason),
        };
        Self::before("invalid_arguments_type", message)
    }

    /// The operation was over before the tool was called.
    pub(super) fn not_started(operation: &OperationContext) -> Self {
        if operation.cancellation.is_cancelled() {
            return Self::before(CANCELLED, "the run was cancelled before the tool was started");
        }
        Self::before(TIMEOUT, "the time of the run was over before the tool was started")
    }

    /// The tool was at work and did not come to an end by itself.
    pub(super) fn interrupted(interruption: Interruption) -> Self {
        match interruption {
            Interruption::Canceled => Self::amid(CANCELLED, "the tool was cancelled at work"),
            Interruption::DeadlineExceeded => Self::amid(TIMEOUT, "the tool ran out of time"),
        }
    }

    pub(super) fn panicked() -> Self {
        Self::amid("tool_panicked", "the tool broke down at work, which is a fault of its own")
    }

    /// The tool's own word on what went wrong.
    pub(super) fn of_failure(failure: PortFailure) -> Self {
        let repeat = failure.retryable && failure.commit == CommitDisposition::NotCommitted;
        let hint = if repeat { "; it may be tried again" } else { "" };
        let code = match failure.kind {
            PortFailureKind::Timeout => TIMEOUT.to_owned(),
            PortFailureKind::Canceled => CANCELLED.to_owned(),
            _ => bounded(&failure.code, MAX_CODE_BYTES).to_owned(),
        };
        let message = bounded(&failure.message, MAX_MESSAGE_BYTES).to_owned() + hint;
        Self { code, message, commit: failure.commit }
    }

    pub(super) fn into_served(self, called: &str) -> ServedTool {
        let name = bounded(called, NAME_MAX_BYTES).to_owned();
        let error = format!("{}; {}", self.message, disposition::in_words(self.commit));
        ServedTool {
            text: failure_text(&error, &self.code, &name),
            name,
            ok: false,
            error_code: Some(self.code),
            commit: Some(self.commit),
            directive: ToolDirective::Continue,
            metadata: Map::new(),
            image: None,
            artifact: None,
        }
    }

    fn before(code: &str, message: impl Into<String>) -> Self {
        let commit = CommitDisposition::NotCommitted;
        Self { code: code.to_owned(), message: message.into(), commit }
    }

    fn amid(code: &str, message: &str) -> Self {
        let commit = CommitDisposition::Unknown;
        Self { code: code.to_owned(), message: message.to_owned(), commit }
    }
}

/// The beginning of `text`, at most `bytes` long, on a character boundary.
pub(super) fn bounded(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
