//! Decides what a tool call is while it is on its way, and what its result holds.
//!
//! Knows nothing about batches. Invariant: whatever a model wrote as arguments is kept as it wrote
//! it, until it was found to be an object.

use std::sync::Arc;

use runtime_ports::{ArtifactDigest, CommitDisposition, Digest, ModelContent, ToolDirective};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    TOOL_NAME_MAX_BYTES,
    wording::{bounded, failure_text},
};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Identity of the call.
    pub id: Arc<str>,
    /// Name of the tool.
    pub name: Arc<str>,
    /// An object, or what the model wrote in its place.
    pub arguments: Arc<Value>,
}

/// Why arguments are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnusableArguments {
    NoJson,
    NoObject,
}

impl Call {
    /// The arguments as an object. Nothing at all stands for no arguments.
    pub(crate) fn object(&self) -> Result<Arc<Value>, UnusableArguments> {
        match &*self.arguments {
            Value::Object(_) => Ok(Arc::clone(&self.arguments)),
            Value::Null => Ok(Arc::new(Value::Object(Map::new()))),
            Value::String(text) if text.trim().is_empty() => {
                Ok(Arc::new(Value::Object(Map::new())))
            }
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(_) => Err(UnusableArguments::NoObject),
                Err(_) => Err(UnusableArguments::NoJson),
            },
            _ => Err(UnusableArguments::NoObject),
        }
    }

    /// The name, short enough to be repeated.
    pub(crate) fn short_name(&self) -> &str {
        bounded(&self.name, TOOL_NAME_MAX_BYTES)
    }
}

/// Whether a result is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// The call did what it should.
    Success,
    /// It did not; the code says why.
    Error,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// The call that it answers, as a hook or tool named it; the history pairs by the model's own.
    pub tool_call_id: Arc<str>,
    /// What the model is told.
    pub content: Arc<str>,
    /// Code of the error, if it is one.
    pub error_code: Option<Arc<str>>,
    /// What the run shall do next.
    pub directive: ToolDirective,
    /// Facts for the host.
    pub metadata: Arc<Map<String, Value>>,
    /// Whether the effect took place, where somebody said so; `None` after a reply of the tool.
    pub commit: Option<CommitDisposition>,
    /// Where the whole output is, when `content` shows a part of it.
    pub artifact: Option<ArtifactDigest>,
    /// A picture.
    pub image: Option<ModelContent>,
}

impl CallResult {
    /// Whether it is an error.
    #[must_use]
    pub const fn status(&self) -> ResultStatus {
        match self.error_code {
            Some(_) => ResultStatus::Error,
            None => ResultStatus::Success,
        }
    }

    /// A failure that the model is told about.
    pub(crate) fn failed(call: &Call, code: &str, error: &str) -> Self {
        Self {
            tool_call_id: Arc::clone(&call.id),
            content: failure_text(error, code, call.short_name()).into(),
            error_code: Some(code.into()),
            directive: ToolDirective::Continue,
            metadata: Arc::default(),
            commit: None,
            artifact: None,
            image: None,
        }
    }

    pub(crate) fn with_commit(mut self, commit: CommitDisposition) -> Self {
        self.commit = Some(commit);
        self
    }
}

/// Names exactly what an approval releases.
pub(crate) fn approval_digest(
    call: &Call,
    arguments: &Value,
    version: &str,
    workspace: Option<&str>,
) -> Digest {
    Digest::of_json(&(&*call.id, &*call.name, version, workspace, arguments))
}
