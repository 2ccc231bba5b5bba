//! Decides how what requests have cost reads in one line of progress.
//!
//! Knows receipts. Invariant: what was not reported is called unavailable, never 0.

use runtime_ports::{TurnEnd, UsageReceipt};

use crate::{
    amounts::{cost, counted, duration, tokens, tokens_in_and_out, tokens_of},
    totals::RunTotals,
};

/// As many characters of a name as `agent receipts` lists.
const ID_SHOWN: usize = 8;

/// `receipt 0196a2b3: completed, 1 request, 0.4 s; tokens in 10, out 5`.
pub(super) fn receipt_line(receipt: &UsageReceipt) -> String {
    let id: String = receipt.operation_id.to_string().chars().take(ID_SHOWN).collect();
    let requests = counted(receipt.requests.len() as u64, "request", "requests");
    let took = duration(receipt.ended_at_ms.saturating_sub(receipt.started_at_ms));
    let (input, output) = tokens_of(receipt);
    let (end, tokens) = (end_text(receipt.end), tokens_in_and_out(&input, &output));
    format!("receipt {id}: {end}, {requests}, {took}; {tokens}")
}

/// How a request ended, in a word.
pub(crate) const fn end_text(end: TurnEnd) -> &'static str {
    match end {
        TurnEnd::Completed => "completed",
        TurnEnd::Failed => "failed",
        TurnEnd::TimedOut => "timed out",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Interrupted => "interrupted",
    }
}

/// `totals  4 requests, 1.3 s; tokens in 40, out 20; cost $0.000120`.
pub(super) fn totals_line(totals: &RunTotals, elapsed_ms: u64) -> String {
    let requests = counted(totals.requests, "request", "requests");
    let tokens = tokens_in_and_out(&tokens(totals.input_tokens), &tokens(totals.output_tokens));
    let (took, cost) = (duration(elapsed_ms), cost(totals.cost_nano_usd));
    format!("totals  {requests}, {took}; {tokens}; cost {cost}")
}
