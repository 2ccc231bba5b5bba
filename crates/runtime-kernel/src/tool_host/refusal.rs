//! Decides what a model is told of a call that came to no reply.
//!
//! Knows nothing about how a call is served. Invariant: the words say whether something was
//! changed, and come from the disposition, not from the kind of the failure.

use std::fmt::Display;

use runtime_decision::wording::{argument_fault, bounded, disposition, failure_text, tool_failure};
use runtime_ports::{
    CommitDisposition, Interruption, OperationContext, PortFailure, ToolDirective,
};
use serde_json::Map;

use super::ServedTool;
use crate::{argument_schema::Fault, bridge::NAME_MAX_BYTES};

const TIMEOUT: &str = "tool_timeout";
const CANCELLED: &str = "tool_cancelled";

/// A call without a reply.
pub(super) struct Refusal {
    code: String,
    error: String,
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
        Self::before("invalid_arguments_type", argument_fault(&fault.path, &fault.reason))
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
        let (code, error) = tool_failure(&failure);
        Self { code, error, commit: failure.commit }
    }

    pub(super) fn into_served(self, called: &str) -> ServedTool {
        let name = bounded(called, NAME_MAX_BYTES).to_owned();
        ServedTool {
            text: failure_text(&self.error, &self.code, &name),
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

    fn before(code: &str, what: impl Display) -> Self {
        Self::with(code, what, CommitDisposition::NotCommitted)
    }

    fn amid(code: &str, what: &str) -> Self {
        Self::with(code, what, CommitDisposition::Unknown)
    }

    fn with(code: &str, what: impl Display, commit: CommitDisposition) -> Self {
        let error = format!("{what}; {}", disposition(commit));
        Self { code: code.to_owned(), error, commit }
    }
}
