//! Decides which numbers of a usage report are taken, and what they mean.
//!
//! Knows nothing about which event carried the report. Invariant: a number that was not reported is
//! `None`; what is said of an answer before it begins counts nothing of it, and no prompt is without
//! tokens. In this API `input_tokens` is what was neither read from a cache nor written to one; the
//! whole prompt is the sum of the three.

use model_wire::{
    Meter,
    metering::{count, first, nano_usd},
};
use runtime_ports::{CumulativeUsage, TokenUsage};
use serde_json::Value;

use crate::body::Marks;

/// A meter for a request whose prefixes were marked, or were not. The counts stay apart while they
/// are gathered, since a later report may bring what an earlier one lacked.
pub(crate) fn meter(marks: Marks) -> Meter {
    Meter::viewed(match marks {
        Marks::Set => whole_prompt,
        Marks::Left => whole_prompt_without_writes,
    })
}

/// When a report came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// With the announcement of the answer, which has no tokens then, whatever is said.
    BeforeTheAnswer,
    Later,
}

/// Takes the report of an event, or of the message in it.
pub(crate) fn observe(meter: &mut Meter, event: &Value, moment: Moment) {
    let Some(report) = event.get("usage").filter(|report| report.is_object()) else { return };
    let details = first(report, &["output_tokens_details"]);
    let read = count(report, &["cache_read_input_tokens"]);
    let written = count(report, &["cache_creation_input_tokens"]).or_else(|| by_age(report));
    let is_later = moment == Moment::Later;
    // Gateways announce an answer before they know how long the prompt was.
    let is_counted = |plain: &u64| is_later || *plain > 0 || read > Some(0) || written > Some(0);
    meter.observe_usage(&TokenUsage {
        input_tokens: count(report, &["input_tokens"]).filter(is_counted),
        output_tokens: count(report, &["output_tokens"]).filter(|_| is_later),
        cached_input_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: details
            .and_then(|details| count(details, &["thinking_tokens", "reasoning_tokens"])),
    });
    meter.observe_cost(first(report, &["cost"]).and_then(Value::as_f64).and_then(nano_usd));
}

/// Writes are also reported by how long they are kept.
fn by_age(report: &Value) -> Option<u64> {
    let ages = first(report, &["cache_creation"])?;
    let short = count(ages, &["ephemeral_5m_input_tokens"])?;
    short.checked_add(count(ages, &["ephemeral_1h_input_tokens"])?)
}

/// The sum of all three parts. A server that reports neither part of a cache keeps no account of
/// one, and its input is the whole prompt; with one of two parts the sum is unknown.
fn whole_prompt(reports: &CumulativeUsage) -> TokenUsage {
    let parts = reports.usage();
    let cache = match (parts.cached_input_tokens, parts.cache_write_tokens) {
        (Some(read), Some(written)) => read.checked_add(written),
        // A part that reports contradict each other about is there all the same.
        (None, None) if reports.warnings().is_empty() => Some(0),
        _ => None,
    };
    summed(parts, cache)
}

/// What nobody asked to keep was not written: then what was read is all that is missing.
fn whole_prompt_without_writes(reports: &CumulativeUsage) -> TokenUsage {
    let parts = reports.usage();
    match (parts.cached_input_tokens, parts.cache_write_tokens) {
        (Some(read), None) if reports.warnings().is_empty() => summed(parts, Some(read)),
        _ => whole_prompt(reports),
    }
}

fn summed(parts: TokenUsage, cache: Option<u64>) -> TokenUsage {
    let whole = parts.input_tokens.zip(cache).and_then(|(plain, cache)| plain.checked_add(cache));
    let is_part = |part: &u64| parts.output_tokens.is_none_or(|all| *part <= all);
    let reasoning_tokens = parts.reasoning_tokens.filter(is_part);
    TokenUsage { input_tokens: whole, reasoning_tokens, ..parts }
}

#[cfg(test)]
mod tests;
