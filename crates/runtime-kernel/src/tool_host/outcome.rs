//! Decides what a host learns of a served call, and how it enters the two loops.
//!
//! Knows nothing about how the call was served.

use runtime_decision::wording::{MAX_CODE_BYTES, bounded, failure_text};
use runtime_ports::{ArtifactDigest, CommitDisposition, ModelContent, ToolDirective, ToolReply};
use serde_json::{Map, Value};

use crate::{SessionToolOutcome, ToolOutcome, tool_output::Shown};

/// A call that was served, well or not.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedTool {
    /// Name of the tool, as it was called; at most 256 bytes of it.
    pub name: String,
    /// What the model is told. Of a failed call: JSON with `ok`, `error`, `error_code` and
    /// `tool_name`.
    pub text: String,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Why it did not: `tool_not_found`, `invalid_arguments_payload`, `invalid_arguments_type`,
    /// `tool_timeout`, `tool_cancelled`, `tool_panicked`, or the tool's own code.
    pub error_code: Option<String>,
    /// Whether the effect took place, where a port or this host said so; `None` when the tool gave
    /// a reply.
    pub commit: Option<CommitDisposition>,
    /// What the tool asks of the run.
    pub directive: ToolDirective,
    /// The tool's facts for the host.
    pub metadata: Map<String, Value>,
    /// A picture, for hosts that can show one to the model; the two loops cannot.
    pub image: Option<ModelContent>,
    /// Where the whole output is kept, when `text` shows a part of it.
    pub artifact: Option<ArtifactDigest>,
}

impl ServedTool {
    pub(super) fn of_reply(name: &str, reply: ToolReply, shown: Shown) -> Self {
        let error_code = reply.error_code.map(|code| bounded(&code, MAX_CODE_BYTES).to_owned());
        let ok = error_code.is_none();
        let text = match &error_code {
            Some(code) => failure_text(&shown.text, code, name),
            None => shown.text,
        };
        Self {
            name: name.to_owned(),
            text,
            ok,
            error_code,
            commit: None,
            directive: reply.directive,
            metadata: reply.metadata,
            image: reply.image.filter(|image| matches!(image, ModelContent::Image { .. })),
            artifact: shown.artifact,
        }
    }

    /// The text, with a word on what a loop of text cannot carry.
    fn into_text(self) -> String {
        match self.image {
            Some(_) => self.text + "\n[The tool also gave a picture, which cannot be shown here.]",
            None => self.text,
        }
    }
}

/// Text and success; the subagent loop has no use for directives.
impl From<ServedTool> for ToolOutcome {
    fn from(served: ServedTool) -> Self {
        let ok = served.ok;
        Self { ok, ..Self::success(served.into_text()) }
    }
}

/// `Finish` asks to finish after the round, `WaitUser` stops the session once the result was sent.
impl From<ServedTool> for SessionToolOutcome {
    fn from(served: ServedTool) -> Self {
        let (ok, directive) = (served.ok, served.directive);
        Self {
            ok,
            stop: directive == ToolDirective::WaitUser,
            finish_after_round: directive == ToolDirective::Finish,
            ..Self::success(served.into_text())
        }
    }
}
