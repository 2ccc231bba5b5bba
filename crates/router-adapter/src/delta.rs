//! Decides how deltas cross from the task that gets them to the caller that watches.
//!
//! Knows nothing about answers.

use runtime_ports::{DeltaSink, ModelDelta};

use crate::mailbox::{Mailbox, Merge};

/// A [`ModelDelta`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnedDelta {
    Text(String),
    Reasoning(String),
    ToolCall { index: u32, id: String, name: String },
    ToolArguments { index: u32, fragment: String },
    Restarted,
}

/// Posts deltas to a mailbox.
pub(crate) struct DeltaPost<'a>(pub(crate) &'a Mailbox<OwnedDelta>);

impl DeltaSink for DeltaPost<'_> {
    fn delta(&self, delta: ModelDelta<'_>) {
        if matches!(delta, ModelDelta::Restarted) {
            self.0.retain(|_| false);
        }
        self.0.post(OwnedDelta::from(delta));
    }
}

impl OwnedDelta {
    pub(crate) fn as_delta(&self) -> ModelDelta<'_> {
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

impl From<ModelDelta<'_>> for OwnedDelta {
    fn from(delta: ModelDelta<'_>) -> Self {
        match delta {
            ModelDelta::Text(text) => Self::Text(text.to_owned()),
            ModelDelta::Reasoning(text) => Self::Reasoning(text.to_owned()),
            ModelDelta::ToolCall { index, id, name } => {
                Self::ToolCall { index, id: id.to_owned(), name: name.to_owned() }
            }
            ModelDelta::ToolArguments { index, fragment } => {
                Self::ToolArguments { index, fragment: fragment.to_owned() }
            }
            ModelDelta::Restarted => Self::Restarted,
        }
    }
}

/// Deltas that read on in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DeltaKind {
    Text,
    Reasoning,
    ToolArguments { index: u32 },
}

impl Merge for OwnedDelta {
    type Kind = DeltaKind;

    fn kind(&self) -> Option<DeltaKind> {
        match self {
            Self::Text(_) => Some(DeltaKind::Text),
            Self::Reasoning(_) => Some(DeltaKind::Reasoning),
            Self::ToolArguments { index, .. } => Some(DeltaKind::ToolArguments { index: *index }),
            Self::ToolCall { .. } | Self::Restarted => None,
        }
    }

    fn absorb(&mut self, newer: Self) {
        match (self, newer) {
            (Self::Text(held), Self::Text(more))
            | (Self::Reasoning(held), Self::Reasoning(more))
            | (
                Self::ToolArguments { fragment: held, .. },
                Self::ToolArguments { fragment: more, .. },
            ) => held.push_str(&more),
            // Of two kinds: the mailbox asks for none of this.
            _ => {}
        }
    }
}
