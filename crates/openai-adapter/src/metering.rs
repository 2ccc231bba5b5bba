//! Decides which numbers of a usage report are taken, and what they mean.
//!
//! Knows nothing about which frame carried the report. Invariant: a number that was not reported,
//! or that contradicts another of the same report, is `None`.

use runtime_ports::{CumulativeUsage, Metering, TokenUsage};
use serde_json::Value;

/// The counts and the cost of one request, folded over all reports about it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    usage: CumulativeUsage,
    cost_nano_usd: Option<u64>,
}

impl Meter {
    /// Takes the reports of one frame: its `usage`, and the places where vendors put it instead.
    pub(crate) fn observe(&mut self, frame: &Value) {
        let vendor = frame.get("x_groq").and_then(|groq| groq.get("usage"));
        for report in [vendor, frame.get("usage")].into_iter().flatten() {
            self.usage.observe(&token_usage(report));
            self.observe_cost(cost_nano_usd(report));
        }
    }

    /// Takes a cost that was reported beside the usage; a later one replaces it.
    pub(crate) fn observe_cost(&mut self, cost_nano_usd: Option<u64>) {
        self.cost_nano_usd = cost_nano_usd.or(self.cost_nano_usd);
    }

    /// What is known after the reports so far.
    pub(crate) fn usage(&self) -> TokenUsage {
        self.usage.usage()
    }

    /// The cost in nano-dollars, when the provider told one.
    pub(crate) const fn cost_nano_usd(&self) -> Option<u64> {
        self.cost_nano_usd
    }

    /// The same as the metering of a receipt.
    pub(crate) fn metering(&self) -> Metering {
        let usage = self.usage();
        if usage.is_unreported() { Metering::Unavailable } else { Metering::Tokens(usage) }
    }

    /// One sentence for each count that later reports contradicted.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.usage.warnings()
    }
}

/// A cost in dollars as nano-dollars; `None` for what is no amount of money.
pub(crate) fn nano_usd(dollars: f64) -> Option<u64> {
    let nano = (dollars * 1e9).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    (nano.is_finite() && (0.0..=9e18).contains(&nano)).then_some(nano as u64)
}

fn token_usage(report: &Value) -> TokenUsage {
    let input = prompt_tokens(report);
    let output = count(report, &["completion_tokens", "output_tokens"]);
    let total = count(report, &["total_tokens"]);
    let input_details = first(report, &["prompt_tokens_details", "input_tokens_details"]);
    let output_details = first(report, &["completion_tokens_details", "output_tokens_details"]);
    let read = input_details
        .and_then(|details| count(details, &["cached_tokens"]))
        .or_else(|| count(report, &["prompt_cache_hit_tokens", "cache_read_input_tokens"]));
    let written = input_details
        .and_then(|details| count(details, &["cache_write_tokens", "cache_creation_tokens"]))
        .or_else(|| count(report, &["cache_creation_input_tokens"]));
    let reasoning = output_details
        .and_then(|details| count(details, &["reasoning_tokens"]))
        .or_else(|| count(report, &["reasoning_tokens"]));
    let (input_tokens, cached) = whole_and_part(input, read, output, total);
    let (output_tokens, reasoning_tokens) = whole_and_part(output, reasoning, input, total);
    TokenUsage {
        input_tokens,
        output_tokens,
        cached_input_tokens: cached,
        cache_write_tokens: written.filter(|part| input_tokens.is_none_or(|all| *part <= all)),
        reasoning_tokens,
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

/// Most servers count a part within its whole. Some count it beside: then the total, where there
/// is one, proves it, and the whole is completed. A part above its whole without such a proof is
/// no number that anybody measured.
fn whole_and_part(
    whole: Option<u64>,
    part: Option<u64>,
    other: Option<u64>,
    total: Option<u64>,
) -> (Option<u64>, Option<u64>) {
    let (Some(counted), Some(extra)) = (whole, part) else { return (whole, part) };
    let both = counted.checked_add(extra);
    let beside = both.zip(other).and_then(|(both, other)| both.checked_add(other));
    match () {
        () if extra > 0 && beside.is_some() && beside == total => (both, part),
        () if extra > counted => (whole, None),
        () => (whole, part),
    }
}

fn cost_nano_usd(report: &Value) -> Option<u64> {
    let ticks = count(report, &["cost_in_usd_ticks"]).map(|ticks| ticks.div_ceil(10));
    ticks.or_else(|| first(report, &["cost"])?.as_f64().and_then(nano_usd))
}

fn count(report: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| whole_number(report.get(*name)?))
}

/// Some gateways write counts as `12.0`.
fn whole_number(value: &Value) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = || value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=EXACT).contains(n));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "exact above")]
    value.as_u64().or_else(|| float().map(|n| n as u64))
}

fn first<'a>(report: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| report.get(*name).filter(|value| !value.is_null()))
}

#[cfg(test)]
mod tests;
