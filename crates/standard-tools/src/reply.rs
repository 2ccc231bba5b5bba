//! Decides what a model is told of arguments and failures, and what goes to the host instead.
//!
//! Knows nothing about a single tool. Invariant: a failure whose effect may have taken place is
//! never turned into a reply; no message repeats a payload.

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind, ToolReply};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How a call ends early: the model is told, or the host.
pub(crate) enum Ending {
    /// A reply that says what is wrong.
    Told(Box<ToolReply>),
    /// A failure with its disposition.
    Failed(PortFailure),
}

/// The end of a call as the port wants it.
pub(crate) fn ended(result: Result<ToolReply, Ending>) -> Result<ToolReply, PortFailure> {
    match result {
        Ok(reply) => Ok(reply),
        Err(Ending::Told(reply)) => Ok(*reply),
        Err(Ending::Failed(failure)) => Err(failure),
    }
}

/// A success.
pub(crate) fn told(result: &Value) -> ToolReply {
    ToolReply::text(result.to_string())
}

/// The arguments of a call, or a reply that names the expected ones.
pub(crate) fn arguments<T: DeserializeOwned>(given: Value, expected: &str) -> Result<T, Ending> {
    // The parser's own message would repeat what was given; a list would be taken for an object.
    let parsed = given.is_object().then(|| serde_json::from_value(given).ok()).flatten();
    parsed.ok_or_else(|| error("INVALID_ARGUMENTS", &format!("arguments must be {expected}")))
}

/// A reply that says what is wrong; the host of the tool wraps it.
pub(crate) fn error(code: &str, message: &str) -> Ending {
    Ending::Told(Box::new(ToolReply::error(code, message)))
}

impl From<PortFailure> for Ending {
    fn from(failure: PortFailure) -> Self {
        let is_for_model = matches!(
            failure.kind,
            PortFailureKind::Forbidden | PortFailureKind::NotFound | PortFailureKind::Invalid
        );
        if is_for_model && failure.commit == CommitDisposition::NotCommitted {
            error(&failure.code, &failure.message)
        } else {
            Self::Failed(failure)
        }
    }
}
