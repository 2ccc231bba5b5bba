//! Decides what a run has cost in all.
//!
//! Knows receipts. Invariant: what was not reported makes a total a lower bound, never a zero.

use runtime_ports::{UsageReceipt, UsageTotal};
use serde::Serialize;

/// Sums over the receipts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RunTotals {
    pub(crate) turns: u64,
    pub(crate) requests: u64,
    pub(crate) input_tokens: UsageTotal,
    pub(crate) output_tokens: UsageTotal,
    pub(crate) cost_nano_usd: UsageTotal,
}

impl RunTotals {
    pub(crate) fn add(&mut self, receipt: &UsageReceipt) {
        let usage = receipt.metering.tokens().unwrap_or_default();
        self.turns += 1;
        self.requests += receipt.requests.len() as u64;
        self.input_tokens.add(usage.input_tokens);
        self.output_tokens.add(usage.output_tokens);
        self.cost_nano_usd.add(receipt.cost_nano_usd);
        if receipt.is_lower_bound {
            self.miss_a_part();
        }
    }

    /// Adds what others have cost.
    pub(crate) fn add_all(&mut self, others: &Self) {
        self.turns += others.turns;
        self.requests += others.requests;
        let pairs = [
            (&mut self.input_tokens, others.input_tokens),
            (&mut self.output_tokens, others.output_tokens),
            (&mut self.cost_nano_usd, others.cost_nano_usd),
        ];
        for (sum, other) in pairs {
            sum.add(Some(other.at_least));
            sum.complete &= other.complete;
        }
    }

    /// Something is missing from every sum.
    pub(crate) fn miss_a_part(&mut self) {
        for total in [&mut self.input_tokens, &mut self.output_tokens, &mut self.cost_nano_usd] {
            total.complete = false;
        }
    }
}
