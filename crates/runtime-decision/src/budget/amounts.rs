//! Decides what can be reserved and used, and how amounts add up.
//!
//! Knows no limits and nobody who spends. Invariant: sums saturate; an amount never wraps around.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::BudgetName;

/// How much of everything that budgets count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Amounts {
    /// Of prompts and answers together.
    #[serde(skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// Of prompts, without what was read from a cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncached_input_tokens: u64,
    /// In nano-dollars.
    #[serde(skip_serializing_if = "is_zero")]
    pub cost_nano_usd: u64,
    /// Requests that reach a provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub model_calls: u64,
    /// Calls of tools that are started, of any name.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u64,
    /// The same by the name of the tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_calls_by_name: BTreeMap<Arc<str>, u64>,
    /// Runs that are started for others.
    #[serde(skip_serializing_if = "is_zero")]
    pub sub_tasks: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

impl Amounts {
    /// One start of each of these tools.
    #[must_use]
    pub fn of_tools<'a>(names: impl IntoIterator<Item = &'a Arc<str>>) -> Self {
        let mut amounts = Self::default();
        names.into_iter().for_each(|name| amounts.add_tool(name));
        amounts
    }

    /// So many runs for others.
    #[must_use]
    pub fn of_sub_tasks(sub_tasks: u64) -> Self {
        Self { sub_tasks, ..Self::default() }
    }

    /// Counts the start of a tool.
    pub fn add_tool(&mut self, name: &Arc<str>) {
        self.tool_calls = self.tool_calls.saturating_add(1);
        let calls = self.tool_calls_by_name.entry(Arc::clone(name)).or_default();
        *calls = calls.saturating_add(1);
    }

    /// Whether it is nothing at all.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// How much of what a budget of this name counts. Depth and time are no amounts: 0.
    #[must_use]
    pub fn of(&self, name: &BudgetName) -> u64 {
        match name {
            BudgetName::Tokens => self.tokens,
            BudgetName::UncachedInputTokens => self.uncached_input_tokens,
            BudgetName::Cost => self.cost_nano_usd,
            BudgetName::ModelCalls => self.model_calls,
            BudgetName::ToolCalls => self.tool_calls,
            BudgetName::ToolCallsOf(tool) => {
                self.tool_calls_by_name.get(tool).copied().unwrap_or_default()
            }
            BudgetName::SubTasks => self.sub_tasks,
            BudgetName::SubTaskDepth | BudgetName::WallTime | BudgetName::Other(_) => 0,
        }
    }

    /// At most `most` of what a budget of this name counts.
    pub(super) fn keep_below(&mut self, name: &BudgetName, most: u64) {
        let amount = match name {
            BudgetName::Tokens => &mut self.tokens,
            BudgetName::UncachedInputTokens => &mut self.uncached_input_tokens,
            BudgetName::Cost => &mut self.cost_nano_usd,
            BudgetName::ModelCalls => &mut self.model_calls,
            BudgetName::ToolCalls => &mut self.tool_calls,
            BudgetName::ToolCallsOf(tool) => match self.tool_calls_by_name.get_mut(tool) {
                Some(calls) => calls,
                None => return,
            },
            BudgetName::SubTasks => &mut self.sub_tasks,
            BudgetName::SubTaskDepth | BudgetName::WallTime | BudgetName::Other(_) => return,
        };
        *amount = (*amount).min(most);
    }

    /// Adds, saturating.
    pub fn add(&mut self, more: &Self) {
        self.combine(more, u64::saturating_add);
    }

    /// Takes away, down to nothing.
    pub fn take(&mut self, less: &Self) {
        self.combine(less, u64::saturating_sub);
        self.tool_calls_by_name.retain(|_, calls| *calls > 0);
    }

    /// The greater of each.
    #[must_use]
    pub fn at_least(mut self, other: &Self) -> Self {
        self.combine(other, u64::max);
        self
    }

    fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        self.tokens = with(self.tokens, other.tokens);
        self.uncached_input_tokens = with(self.uncached_input_tokens, other.uncached_input_tokens);
        self.cost_nano_usd = with(self.cost_nano_usd, other.cost_nano_usd);
        self.model_calls = with(self.model_calls, other.model_calls);
        self.tool_calls = with(self.tool_calls, other.tool_calls);
        for (name, calls) in &other.tool_calls_by_name {
            let own = self.tool_calls_by_name.entry(Arc::clone(name)).or_default();
            *own = with(*own, *calls);
        }
        self.sub_tasks = with(self.sub_tasks, other.sub_tasks);
    }
}
