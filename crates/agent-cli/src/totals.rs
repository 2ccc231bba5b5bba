//! Decides what a run has cost in all.
//!
//! Knows receipts. Invariant: what was not reported makes a total a lower bound, never a zero.

use runtime_ports::{Metering, TokenUsage, UsageReceipt, UsageTotal};
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
        let usage = match receipt.metering {
            Metering::Tokens(usage) => usage,
            Metering::DurationSeconds(_) | Metering::Unavailable => TokenUsage::default(),
        };
        self.turns += 1;
        self.requests += receipt.requests.len() as u64;
        self.input_tokens.add(usage.input_tokens);
        self.output_tokens.add(usage.output_tokens);
        self.cost_nano_usd.add(receipt.cost_nano_usd);
        self.input_tokens.complete &= !receipt.is_lower_bound;
        self.output_tokens.complete &= !receipt.is_lower_bound;
    }
}

/// `12`, `at least 12`, or `unavailable` when nothing at all is known.
pub(crate) fn tokens_text(total: UsageTotal) -> String {
    match (total.at_least, total.complete) {
        (0, false) => "unavailable".to_owned(),
        (known, true) => known.to_string(),
        (known, false) => format!("at least {known}"),
    }
}

/// Dollars, in the same three forms.
pub(crate) fn cost_text(total: UsageTotal) -> String {
    let dollars = format!("${}.{:06}", total.at_least / NANO, total.at_least % NANO / 1_000);
    match (total.at_least, total.complete) {
        (0, false) => "unavailable".to_owned(),
        (_, true) => dollars,
        (_, false) => format!("at least {dollars}"),
    }
}

const NANO: u64 = 1_000_000_000;
