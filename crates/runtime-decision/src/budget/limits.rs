//! Decides what a budget can limit.
//!
//! Knows no amounts that were spent. Invariant: to tighten never allows more.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::BudgetName;

/// The budgets of one run and all that it starts; what is `None` is not limited. Time has a limit
/// of its own ([`Limits::wall_time`](crate::Limits::wall_time)).
///
/// # Examples
/// ```
/// use runtime_decision::BudgetLimits;
///
/// let agent = BudgetLimits { tokens: Some(100_000), ..BudgetLimits::default() };
/// let run = BudgetLimits { tokens: Some(500_000), model_calls: Some(9), ..BudgetLimits::default() };
/// let both = agent.tightened_by(&run);
/// assert_eq!((both.tokens, both.model_calls), (Some(100_000), Some(9)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct BudgetLimits {
    /// Most tokens of prompts and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Most tokens of prompts, without what is read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncached_input_tokens: Option<u64>,
    /// Most cost, in nano-dollars. Needs a model with a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_nano_usd: Option<u64>,
    /// Most requests that reach a provider, failed ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Most calls of tools; the tools that ask the user and that end the task are free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Most calls of the tools of these names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_calls_by_name: BTreeMap<Arc<str>, u64>,
    /// Most runs that are started for others, at any depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_tasks: Option<u64>,
    /// How many levels of such runs may stand below; 0 allows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_task_depth: Option<u32>,
}

impl BudgetLimits {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What both allow.
    #[must_use]
    pub fn tightened_by(mut self, other: &Self) -> Self {
        tighten(&mut self.tokens, other.tokens);
        tighten(&mut self.uncached_input_tokens, other.uncached_input_tokens);
        tighten(&mut self.cost_nano_usd, other.cost_nano_usd);
        tighten(&mut self.model_calls, other.model_calls);
        tighten(&mut self.tool_calls, other.tool_calls);
        for (name, calls) in &other.tool_calls_by_name {
            let own = self.tool_calls_by_name.entry(Arc::clone(name)).or_insert(*calls);
            *own = (*own).min(*calls);
        }
        tighten(&mut self.sub_tasks, other.sub_tasks);
        tighten(&mut self.sub_task_depth, other.sub_task_depth);
        self
    }

    /// What is counted and limited, in the order in which a shortage is looked for.
    pub(super) fn each(&self) -> impl Iterator<Item = (BudgetName, u64)> {
        let counted = [
            (BudgetName::Cost, self.cost_nano_usd),
            (BudgetName::Tokens, self.tokens),
            (BudgetName::UncachedInputTokens, self.uncached_input_tokens),
            (BudgetName::ModelCalls, self.model_calls),
            (BudgetName::ToolCalls, self.tool_calls),
            (BudgetName::SubTasks, self.sub_tasks),
        ];
        let counted = counted.into_iter().filter_map(|(name, limit)| Some((name, limit?)));
        let by_name = self.tool_calls_by_name.iter();
        counted
            .chain(by_name.map(|(tool, calls)| (BudgetName::ToolCallsOf(Arc::clone(tool)), *calls)))
    }
}

fn tighten<T: Ord + Copy>(own: &mut Option<T>, other: Option<T>) {
    *own = (*own).into_iter().chain(other).min();
}
