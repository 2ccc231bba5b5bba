//! Decides how an agent keeps its requests within the window of its model.
//!
//! Knows no model. Invariant: the defaults are safe for a stranger.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Name of the tool that reads artifacts, where nothing else is said.
const READ_ARTIFACT: &str = "read_artifact";

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
    /// Results of more tokens than this may be left out, when their tool would give them again.
    pub large_result_tokens: u64,
    /// Results of more tokens than this may become artifacts.
    pub offload_tokens: u64,
    /// Most tokens of the answer that is a summary.
    pub summary_output_tokens: u32,
    /// The model that sums up, in the words of the session that serves it; `None` is the agent's.
    /// Where the cost is limited, it needs a price as the agent's model does: a run whose summariser
    /// has none fails before anything is sent, and its summaries are paid at its own price.
    pub summary_model: Option<Arc<str>>,
    /// Most tokens of a request for a summary; `None` takes the budget of the agent's own requests.
    pub summary_prompt_tokens: Option<u64>,
    /// Tokens kept free for the answer; `None` takes the most that an answer may have, or a part
    /// of the window.
    pub reserved_output_tokens: Option<u64>,
    /// Tokens kept free for what the protocol puts around the messages.
    pub protocol_reserve_tokens: u64,
    /// Name of the tool with which the model reads artifacts: `read_artifact`, unless it is another.
    /// Runs that do not advertise it make none.
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
            large_result_tokens: 256,
            offload_tokens: 1_024,
            summary_output_tokens: 4_096,
            summary_model: None,
            summary_prompt_tokens: None,
            reserved_output_tokens: None,
            protocol_reserve_tokens: 256,
            artifact_reader: Some(READ_ARTIFACT.into()),
        }
    }
}
