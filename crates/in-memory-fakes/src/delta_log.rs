//! Decides how streamed deltas are scripted and remembered.
//!
//! Knows nothing about whether they agree with the answer: a script may stream what it likes.

use runtime_ports::{DeltaSink, ModelContent, ModelDelta};

use crate::Recorder;

/// A delta that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedDelta {
    /// More answer text.
    Text(String),
    /// More reasoning text.
    Reasoning(String),
    /// A tool call begins.
    ToolCall {
        /// Position of the call in the answer, from 0.
        index: u32,
        /// Identity of the call.
        id: String,
        /// Name of the tool.
        name: String,
    },
    /// More of a tool call's arguments.
    ToolArguments {
        /// Position of the call in the answer, from 0.
        index: u32,
        /// A piece of JSON text.
        fragment: String,
    },
    /// Voids every delta before it.
    Restarted,
}

impl RecordedDelta {
    /// More answer text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The same delta, borrowed.
    #[must_use]
    pub fn as_delta(&self) -> ModelDelta<'_> {
        match self {
            Self::Text(text) => ModelDelta::Text(text),
            Self::Reasoning(text) => ModelDelta::Reasoning(text),
            Self::ToolCall { index, id, name } => ModelDelta::ToolCall { index: *index, id, name },
            Self::ToolArguments { index, fragment } => {
                ModelDelta::ToolArguments { index: *index, fragment }
            }
            Self::Restarted => ModelDelta::Restarted,
        }
    }
}

impl From<ModelDelta<'_>> for RecordedDelta {
    fn from(delta: ModelDelta<'_>) -> Self {
        match delta {
            ModelDelta::Text(text) => Self::Text(text.into()),
            ModelDelta::Reasoning(text) => Self::Reasoning(text.into()),
            ModelDelta::ToolCall { index, id, name } => {
                Self::ToolCall { index, id: id.into(), name: name.into() }
            }
            ModelDelta::ToolArguments { index, fragment } => {
                Self::ToolArguments { index, fragment: fragment.into() }
            }
            ModelDelta::Restarted => Self::Restarted,
        }
    }
}

/// A sink that remembers every delta. Clones share the log.
#[derive(Debug, Clone, Default)]
pub struct DeltaLog(Recorder<RecordedDelta>);

impl DeltaLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every delta, in order.
    #[must_use]
    pub fn all(&self) -> Vec<RecordedDelta> {
        self.0.all()
    }

    /// The answer text that a watcher would show: what followed the last restart.
    #[must_use]
    pub fn shown_text(&self) -> String {
        self.all().iter().fold(String::new(), |mut shown, delta| {
            match delta {
                RecordedDelta::Text(text) => shown.push_str(text),
                RecordedDelta::Restarted => shown.clear(),
                _ => {}
            }
            shown
        })
    }
}

impl DeltaSink for DeltaLog {
    fn delta(&self, delta: ModelDelta<'_>) {
        self.0.record(delta.into());
    }
}

/// The deltas of `output`, texts and arguments cut into pieces of at most `piece` characters.
pub(crate) fn deltas_of(output: &[ModelContent], piece: usize) -> Vec<RecordedDelta> {
    let mut deltas = Vec::new();
    let mut index = 0;
    for content in output {
        match content {
            ModelContent::Text { text } => {
                deltas.extend(pieces(text, piece).map(RecordedDelta::Text));
            }
            ModelContent::Reasoning { text, .. } => {
                deltas.extend(pieces(text, piece).map(RecordedDelta::Reasoning));
            }
            ModelContent::ToolUse { id, name, arguments } => {
                let (id, name) = (id.clone(), name.clone());
                deltas.push(RecordedDelta::ToolCall { index, id, name });
                let json = arguments.to_string();
                let fragments = pieces(&json, piece);
                deltas.extend(
                    fragments.map(|fragment| RecordedDelta::ToolArguments { index, fragment }),
                );
                index += 1;
            }
            ModelContent::ToolResult { .. } | ModelContent::Image { .. } => {}
        }
    }
    deltas
}

fn pieces(text: &str, piece: usize) -> impl Iterator<Item = String> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(piece.max(1)).map_or(rest.len(), |(at, _)| at);
        let (head, tail) = rest.split_at(end);
        rest = tail;
        (!head.is_empty()).then(|| head.to_owned())
    })
}
