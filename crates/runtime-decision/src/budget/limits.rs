//! Decides how budgets are said, and how it is said that one lacks.
//!
//! Knows nothing about what was used.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::Amounts;
use crate::EffectId;

/// Most that a run and its sub-runs may use together; `None` for no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetLimits {
    /// Tokens of prompts and answers.
    pub tokens: Option<u64>,
    /// Tokens of prompts that no cache had.
    pub uncached_input_tokens: Option<u64>,
    /// Cost in nano-dollars.
    pub cost_nano_usd: Option<u64>,
    /// Requests to models.
    pub model_calls: Option<u64>,
    /// Calls of tools.
    pub tool_calls: Option<u64>,
    /// Calls of single tools, by name.
    pub tool_calls_by_name: BTreeMap<String, u64>,
    /// Sub-tasks, of all depths together.
    pub sub_tasks: Option<u64>,
}

/// A budget that has not enough left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetShort {
    /// Which, for example `tokens`.
    pub budget: Arc<str>,
    /// What it allows in all.
    pub limit: u64,
    /// What is used or reserved.
    pub used: u64,
    /// What was wanted.
    pub wanted: u64,
}

/// What was really used of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The effect that reserved it.
    pub reservation: EffectId,
    /// What was used.
    pub used: Amounts,
}
