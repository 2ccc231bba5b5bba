//! Decides how a stream of deltas is kept and put together again.
//!
//! Knows nothing about where they come from.

use std::sync::{Mutex, PoisonError};

use runtime_ports::{DeltaSink, ModelDelta};

/// A [`ModelDelta`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More answer text.
    Text(String),
    /// More reasoning text.
    Reasoning(String),
    /// A call begins: its position, identity and tool.
    ToolCall(u32, String, String),
    /// More arguments of the call at that position.
    ToolArguments(u32, String),
    /// Everything before is void.
    Restarted,
}

/// A sink that keeps what it was given.
#[derive(Debug, Default)]
pub struct RecordedDeltas(Mutex<Vec<Delta>>);

impl DeltaSink for RecordedDeltas {
    fn delta(&self, delta: ModelDelta<'_>) {
        let owned = match delta {
            ModelDelta::Text(text) => Delta::Text(text.into()),
            ModelDelta::Reasoning(text) => Delta::Reasoning(text.into()),
            ModelDelta::ToolCall { index, id, name } => {
                Delta::ToolCall(index, id.into(), name.into())
            }
            ModelDelta::ToolArguments { index, fragment } => {
                Delta::ToolArguments(index, fragment.into())
            }
            ModelDelta::Restarted => Delta::Restarted,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(owned);
    }
}

impl RecordedDeltas {
    /// The deltas that count: those after the last [`Delta::Restarted`].
    #[must_use]
    pub fn valid(&self) -> Vec<Delta> {
        let mut deltas = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let restarted = deltas.iter().rposition(|delta| *delta == Delta::Restarted);
        deltas.split_off(restarted.map_or(0, |position| position + 1))
    }

    /// All answer text.
    #[must_use]
    pub fn text(&self) -> String {
        self.collect(|delta| match delta {
            Delta::Text(text) => Some(text),
            _ => None,
        })
    }

    /// All reasoning text.
    #[must_use]
    pub fn reasoning(&self) -> String {
        self.collect(|delta| match delta {
            Delta::Reasoning(text) => Some(text),
            _ => None,
        })
    }

    /// All arguments of the call at `position`.
    #[must_use]
    pub fn arguments(&self, position: u32) -> String {
        self.collect(|delta| match delta {
            Delta::ToolArguments(index, fragment) if index == position => Some(fragment),
            _ => None,
        })
    }

    /// The calls that began, in order: position, identity, tool.
    #[must_use]
    pub fn calls(&self) -> Vec<(u32, String, String)> {
        let calls = self.valid().into_iter().filter_map(|delta| match delta {
            Delta::ToolCall(index, id, name) => Some((index, id, name)),
            _ => None,
        });
        calls.collect()
    }

    fn collect(&self, part: impl Fn(Delta) -> Option<String>) -> String {
        self.valid().into_iter().filter_map(part).collect()
    }
}
