//! Decides what comes of arguments that do not fit their type, and of what a function gives back.
//!
//! Knows nothing about the function.

use runtime_ports::{PortFailure, PortFailureKind, ToolReply};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};
use thiserror::Error;

/// Longest words of a type on a value that it refuses.
const MAX_REASON_BYTES: usize = 400;

/// Longest path to that value.
const MAX_PATH_BYTES: usize = 200;

/// Why a function did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The model should know, and can act on it.
    #[error("{code}: {message}")]
    Told {
        /// Stable identifier of the reason.
        code: String,
        /// What is wrong and what to do: lower case, no full stop.
        message: String,
    },
    /// The world failed.
    #[error(transparent)]
    Failed(Box<PortFailure>),
}

impl ToolError {
    /// An error that is told to the model: a stable code, and what to do.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Told { code: code.into(), message: message.into() }
    }
}

impl From<PortFailure> for ToolError {
    fn from(failure: PortFailure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// What a function may give back.
pub trait IntoToolReply {
    /// The reply that it stands for.
    ///
    /// # Errors
    /// It cannot be written down; what the function did has been done.
    fn into_tool_reply(self) -> Result<ToolReply, PortFailure>;
}

/// A value whose JSON the model is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(
    /// The value.
    pub T,
);

impl IntoToolReply for ToolReply {
    fn into_tool_reply(self) -> Result<ToolReply, PortFailure> {
        Ok(self)
    }
}

impl IntoToolReply for String {
    fn into_tool_reply(self) -> Result<ToolReply, PortFailure> {
        Ok(ToolReply::text(self))
    }
}

impl IntoToolReply for &'static str {
    fn into_tool_reply(self) -> Result<ToolReply, PortFailure> {
        Ok(ToolReply::text(self))
    }
}

/// The model is told `done`.
impl IntoToolReply for () {
    fn into_tool_reply(self) -> Result<ToolReply, PortFailure> {
        Ok(ToolReply::text("done"))
    }
}

impl<T: Serialize> IntoToolReply for Json<T> {
    fn into_tool_reply(self) -> Result<ToolReply, PortFailure> {
        serde_json::to_string(&self.0).map(ToolReply::text).map_err(|_| {
            let message = "the reply of the tool cannot be written as json, mend the tool";
            PortFailure::in_flight_unknown(PortFailureKind::Internal, "reply_not_json", message)
        })
    }
}

pub(super) fn settled<A: IntoToolReply>(
    result: Result<A, ToolError>,
) -> Result<ToolReply, PortFailure> {
    match result {
        Ok(answer) => answer.into_tool_reply(),
        Err(ToolError::Told { code, message }) => Ok(ToolReply::error(code, message)),
        Err(ToolError::Failed(failure)) => Err(*failure),
    }
}

/// The arguments in their type, or what the model is told: a type may demand more than its schema.
pub(super) fn arguments<A: DeserializeOwned>(given: Value) -> Result<A, Box<ToolReply>> {
    serde_path_to_error::deserialize(given).map_err(|error| {
        let path = pointer(error.path());
        let place = match bounded(&path, MAX_PATH_BYTES) {
            "" => "the arguments".to_owned(),
            path => format!("argument {path}"),
        };
        let reason = error.inner().to_string();
        let reason = bounded(&reason, MAX_REASON_BYTES);
        let message = format!("{place} cannot be used: {reason}; nothing was changed");
        Box::new(ToolReply::error("invalid_arguments_type", message))
    })
}

fn pointer(path: &Path) -> String {
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    };
    path.iter().map(step).collect()
}

/// The beginning of `text`, at most `bytes` long, on a character boundary.
fn bounded(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
