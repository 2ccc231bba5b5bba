//! Decides what is said of a budget that does not suffice.
//!
//! Knows nothing about who asked.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::BudgetName;

/// A budget that does not suffice. Amounts are in the unit of the budget.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(
    "the budget {budget} is used up: {used} of {limit}{}; allow more, or make the task smaller",
    words(*.reserved, *.needed, *.levels_above)
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Shortage {
    /// Which.
    pub budget: BudgetName,
    /// What it allows.
    pub limit: u64,
    /// What counts as used.
    pub used: u64,
    /// What others have reserved at this moment.
    #[serde(default)]
    pub reserved: u64,
    /// What was needed more, at least.
    #[serde(default)]
    pub needed: u64,
    /// Whose budget it is: 0 is that of the run itself, 1 that of the run which started it, and so
    /// on.
    #[serde(default)]
    pub levels_above: u32,
}

impl Shortage {
    /// The live time of a run, in milliseconds, is used up.
    pub(crate) const fn of_time(limit: u64, used: u64) -> Self {
        let budget = BudgetName::WallTime;
        Self { budget, limit, used, reserved: 0, needed: 0, levels_above: 0 }
    }
}

fn words(reserved: u64, needed: u64, levels_above: u32) -> String {
    let mut words = String::new();
    if reserved > 0 {
        words.push_str(&format!(", {reserved} reserved"));
    }
    if needed > 0 {
        words.push_str(&format!(", and {needed} more needed"));
    }
    if levels_above > 0 {
        words.push_str(", shared with the run above");
    }
    words
}
