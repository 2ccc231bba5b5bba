//! Decides how a budget is called.
//!
//! Knows no amounts. Invariant: the name alone says what is counted, and in which unit.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What begins the name of a budget of calls of one tool.
const CALLS_OF: &str = "tool_calls:";

/// What a budget counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BudgetName {
    /// `tokens`: of prompts and answers together.
    Tokens,
    /// `uncached_input_tokens`: of prompts, without what was read from a cache.
    UncachedInputTokens,
    /// `cost`: in nano-dollars.
    Cost,
    /// `model_calls`: requests that reached a provider.
    ModelCalls,
    /// `tool_calls`: calls of tools that were started.
    ToolCalls,
    /// `tool_calls:` and a name: calls of one tool that were started.
    ToolCallsOf(Arc<str>),
    /// `sub_tasks`: runs that were started for others.
    SubTasks,
    /// `sub_task_depth`: how deep they may stand below.
    SubTaskDepth,
    /// `wall_time`: live time, in milliseconds.
    WallTime,
    /// A name that a later version may know.
    Other(Arc<str>),
}

impl BudgetName {
    /// The budget of this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "tokens" => Self::Tokens,
            "uncached_input_tokens" => Self::UncachedInputTokens,
            "cost" => Self::Cost,
            "model_calls" => Self::ModelCalls,
            "tool_calls" => Self::ToolCalls,
            "sub_tasks" => Self::SubTasks,
            "sub_task_depth" => Self::SubTaskDepth,
            "wall_time" => Self::WallTime,
            other => match other.strip_prefix(CALLS_OF) {
                Some(tool) => Self::ToolCallsOf(tool.into()),
                None => Self::Other(other.into()),
            },
        }
    }
}

impl fmt::Display for BudgetName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tokens => "tokens",
            Self::UncachedInputTokens => "uncached_input_tokens",
            Self::Cost => "cost",
            Self::ModelCalls => "model_calls",
            Self::ToolCalls => "tool_calls",
            Self::ToolCallsOf(tool) => return write!(formatter, "{CALLS_OF}{tool}"),
            Self::SubTasks => "sub_tasks",
            Self::SubTaskDepth => "sub_task_depth",
            Self::WallTime => "wall_time",
            Self::Other(name) => name,
        })
    }
}

impl Serialize for BudgetName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BudgetName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::named(&name))
    }
}
