//! Decides what is counted against budgets.
//!
//! Knows nothing about limits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How much of everything that can be limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Amounts {
    /// Tokens of prompts and answers.
    pub tokens: u64,
    /// Tokens of prompts that no cache had.
    pub uncached_input_tokens: u64,
    /// Cost in nano-dollars.
    pub cost_nano_usd: u64,
    /// Requests to models.
    pub model_calls: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// The same by name of the tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_calls_by_name: BTreeMap<String, u64>,
    /// Sub-tasks that were started.
    pub sub_tasks: u64,
}
