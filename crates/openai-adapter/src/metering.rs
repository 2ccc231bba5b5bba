//! Decides which numbers of a usage report of either API are taken, and what they mean.
//!
//! Knows nothing about which frame carried the report.

use model_wire::{
    Meter,
    metering::{count, first, nano_usd, whole_and_part},
};
use runtime_ports::TokenUsage;
use serde_json::Value;

use crate::{profile::Counts, server_profile::PartCount};

/// Takes the reports of one frame: its `usage`, and the places where vendors put it instead.
pub(crate) fn observe(meter: &mut Meter, frame: &Value, counts: Counts) {
    let vendor = frame.get("x_groq").and_then(|groq| groq.get("usage"));
    for report in [vendor, frame.get("usage")].into_iter().flatten() {
        let usage = token_usage(report, counts);
        // Zeros behind counts are a frame that was filled in, and no lower counts.
        let is_filler = usage.fields().into_iter().flatten().all(|count| count == 0);
        if !is_filler || meter.usage().is_unreported() {
            meter.observe_usage(&usage);
        }
        meter.observe_cost(cost_nano_usd(report));
    }
}

/// Fields of cached tokens beside those of all tokens.
const CACHED: &[&str] = &["prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens"];

fn token_usage(report: &Value, counts: Counts) -> TokenUsage {
    let input = prompt_tokens(report);
    let output = count(report, &["completion_tokens", "output_tokens"]);
    let total = count(report, &["total_tokens"]);
    let input_details = first(report, &["prompt_tokens_details", "input_tokens_details"]);
    let output_details = first(report, &["completion_tokens_details", "output_tokens_details"]);
    let read = input_details
        .and_then(|details| count(details, &["cached_tokens"]))
        .or_else(|| count(report, CACHED));
    let written = input_details
        .and_then(|details| count(details, &["cache_write_tokens", "cache_creation_tokens"]))
        .or_else(|| count(report, &["cache_creation_input_tokens"]));
    let reasoning = output_details
        .and_then(|details| count(details, &["reasoning_tokens"]))
        .or_else(|| count(report, &["reasoning_tokens"]));
    let (input_tokens, cached) = split(counts.cached, input, read, (output, total));
    let (output_tokens, reasoning_tokens) =
        split(counts.reasoning, output, reasoning, (input, total));
    TokenUsage {
        input_tokens,
        output_tokens,
        cached_input_tokens: cached,
        cache_write_tokens: written.filter(|part| input_tokens.is_none_or(|all| *part <= all)),
        reasoning_tokens,
    }
}

/// The whole and its part, by what is known of the server's way of counting.
fn split(
    count: PartCount,
    whole: Option<u64>,
    part: Option<u64>,
    (other, total): (Option<u64>, Option<u64>),
) -> (Option<u64>, Option<u64>) {
    match count {
        PartCount::AsTheTotalSays => whole_and_part(whole, part, other, total),
        PartCount::Within => whole_and_part(whole, part, other, None),
        PartCount::Beside => match (whole, part) {
            (Some(rest), Some(part)) => (rest.checked_add(part), Some(part)),
            (whole, part) => (whole, part),
        },
    }
}

/// All tokens of the prompt. Gateways before Anthropic's models count the cached ones beside the
/// input, and name all three.
fn prompt_tokens(report: &Value) -> Option<u64> {
    let named = count(report, &["prompt_tokens"]);
    named.or_else(|| beside_the_cache(report)).or_else(|| count(report, &["input_tokens"]))
}

fn beside_the_cache(report: &Value) -> Option<u64> {
    let read = count(report, &["cache_read_input_tokens"])?;
    let written = count(report, &["cache_creation_input_tokens"])?;
    let details = report.get("input_tokens_details").filter(|details| !details.is_null());
    let plain = count(report, &["input_tokens"]).filter(|_| details.is_none())?;
    plain.checked_add(read)?.checked_add(written)
}

/// The cost in the field of whichever vendor. With a key of one's own, what its provider takes comes
/// on top.
fn cost_nano_usd(report: &Value) -> Option<u64> {
    let ticks = count(report, &["cost_in_usd_ticks"]).map(|ticks| ticks.div_ceil(10));
    let dollars = |value: &Value| value.as_f64().and_then(nano_usd);
    let told = first(report, &["cost"]).map(|cost| cost.get("total_cost").unwrap_or(cost));
    let cost = || told.and_then(dollars);
    let upstream = report.get("cost_details").and_then(|cost| cost.get("upstream_inference_cost"));
    let is_own = report.get("is_byok") == Some(&Value::Bool(true));
    let upstream = upstream.filter(|_| is_own).and_then(dollars).unwrap_or(0);
    ticks.or_else(|| cost()?.checked_add(upstream))
}

#[cfg(test)]
mod tests;
