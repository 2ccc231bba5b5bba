//! Decides how an agent keeps its requests within the window of its model.
//!
//! Knows no model. Invariant: the defaults are safe for a stranger.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How requests are kept within the window of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextPolicy {
    /// Whether the context is compacted at all; else a request that does not fit ends the run.
    pub compacts: bool,
    /// Above this part of the budget of a request, in percent, the context is compacted.
    pub threshold_percent: u8,
    /// Compaction goes on until the request takes at most this part of the budget, in percent.
    pub target_percent: u8,
    /// How many of the newest exchanges are left as they are, except by the last levels.
    pub protected_exchanges: usize,
    /// Tokens kept free for the answer; `None` takes the most that an answer may have, or a part
    /// of the window.
    pub reserved_output_tokens: Option<u64>,
    /// Tokens kept free for what the protocol puts around the messages.
    pub protocol_reserve_tokens: u64,
    /// Name of the tool with which the model reads artifacts; without it none are made.
    pub artifact_reader: Option<Arc<str>>,
}

impl Default for ContextPolicy {
    /// Compacts above four fifths of the budget, down to half of it; the last three exchanges are
    /// protected.
    fn default() -> Self {
        Self {
            compacts: true,
            threshold_percent: 80,
            target_percent: 50,
            protected_exchanges: 3,
            reserved_output_tokens: None,
            protocol_reserve_tokens: 256,
            artifact_reader: None,
        }
    }
}
