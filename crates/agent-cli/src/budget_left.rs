//! Decides how what is left of the limits of a job is told.
//!
//! Knows limits and what was counted against them. Refuses to know what spent it. Invariant: what
//! was not limited is not told; money that nobody could count is called unpriced, never 0.

use std::time::Duration;

use runtime_kernel::engine::RunResult;
use runtime_ports::UsageTotal;
use serde::Serialize;

use crate::{
    amounts::{cost, counted, duration},
    job::{Chosen, Left},
};

/// The error of a run whose cost is limited, of a model without a price.
const UNPRICED: &str = "budget_unpriced_model";

/// What is left where something is limited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct BudgetLeft {
    cycles: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_nano_usd: Option<Money>,
    time_ms: u64,
    #[serde(skip)]
    chosen: Chosen,
}

/// Money that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Money {
    /// Nobody knows what a request costs.
    Unpriced,
    /// In nano-dollars.
    #[serde(untagged)]
    Counted(u64),
}

impl BudgetLeft {
    /// What a job that came to this result has left.
    pub(crate) fn of(left: &Left, result: Option<&RunResult>) -> Self {
        let error = result.and_then(|result| result.error.as_ref());
        let is_unpriced = error.is_some_and(|error| &*error.code == UNPRICED);
        let money = |nano| if is_unpriced { Money::Unpriced } else { Money::Counted(nano) };
        Self {
            cycles: left.cycles,
            tokens: left.budget.tokens,
            cost_nano_usd: left.budget.cost_nano_usd.map(money),
            time_ms: milliseconds(left.time),
            chosen: left.chosen,
        }
    }

    /// `left    3 cycles; 900 tokens; cost $0.500000; 9 min 58 s`: what whoever asked for the work
    /// limited; nothing when they limited nothing.
    pub(crate) fn line(&self) -> Option<String> {
        let cycles = counted(self.cycles.into(), "cycle", "cycles");
        let parts = [
            self.chosen.cycles.then_some(cycles),
            self.tokens.map(|tokens| counted(tokens, "token", "tokens")),
            self.cost_nano_usd.map(Money::words),
            self.chosen.time.then(|| duration(self.time_ms)),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("left    {}", parts.join("; ")))
    }
}

impl Money {
    fn words(self) -> String {
        match self {
            Self::Counted(at_least) => {
                format!("cost {}", cost(UsageTotal { at_least, complete: true }))
            }
            Self::Unpriced => "cost unpriced".to_owned(),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
