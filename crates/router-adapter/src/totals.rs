//! Decides what the requests of a turn add up to, and what each of them reported.
//!
//! Knows nothing about turns or stores. Invariant: what was not reported is never counted as zero; a
//! sum that misses a part says so.

use runtime_ports::{
    CommitDisposition, Metering, ModelResponse, PortFailure, Price, RequestMeter, TokenUsage,
    TurnEnd,
};

/// Longest name of a request that is kept.
const LONGEST_REQUEST_ID_BYTES: usize = 1_024;

/// What several requests add up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Totals {
    pub(crate) metering: Metering,
    pub(crate) is_lower_bound: bool,
    pub(crate) cost_nano_usd: Option<u64>,
}

impl Totals {
    /// The sum over `requests`. Without any, nothing is known and nothing is missing.
    pub(crate) fn of(requests: &[RequestMeter]) -> Self {
        Self {
            metering: total_metering(requests),
            is_lower_bound: misses_a_part(requests),
            cost_nano_usd: total_cost(requests),
        }
    }
}

fn total_metering(requests: &[RequestMeter]) -> Metering {
    let tokens = requests.iter().filter_map(tokens_of).reduce(add_known);
    let seconds = requests.iter().filter_map(seconds_of).reduce(add_seconds);
    match (tokens, seconds) {
        (Some(usage), _) => Metering::Tokens(usage),
        (None, Some(seconds)) => Metering::DurationSeconds(seconds),
        (None, None) => Metering::Unavailable,
    }
}

fn tokens_of(request: &RequestMeter) -> Option<TokenUsage> {
    request.metering.tokens().filter(|usage| !usage.is_unreported())
}

fn seconds_of(request: &RequestMeter) -> Option<f64> {
    match request.metering {
        Metering::DurationSeconds(seconds) => Some(seconds),
        Metering::Tokens(_) | Metering::Unavailable => None,
    }
}

/// Stays a number, however long the parts are said to be.
fn add_seconds(left: f64, right: f64) -> f64 {
    (left + right).min(f64::MAX)
}

/// Field by field, what is known; a field that neither side knows stays unknown.
fn add_known(left: TokenUsage, right: TokenUsage) -> TokenUsage {
    let [input, output, cached, written, reasoning] = std::array::from_fn(|field| {
        let (left, right) = (left.fields()[field], right.fields()[field]);
        left.zip(right).map(|(left, right)| left.saturating_add(right)).or(left).or(right)
    });
    TokenUsage {
        input_tokens: input,
        output_tokens: output,
        cached_input_tokens: cached,
        cache_write_tokens: written,
        reasoning_tokens: reasoning,
    }
}

/// Prompt and answer tokens are owed by every request; a detail only by those of a provider that
/// reports it at all.
fn misses_a_part(requests: &[RequestMeter]) -> bool {
    let Some(total) = requests.iter().filter_map(tokens_of).reduce(add_known) else {
        let all_timed = requests.iter().all(|request| seconds_of(request).is_some());
        return !all_timed;
    };
    requests.iter().any(|request| match tokens_of(request) {
        Some(usage) => lacks_one_of(&usage, &total),
        None => true,
    })
}

fn lacks_one_of(usage: &TokenUsage, total: &TokenUsage) -> bool {
    let counts_missing = usage.input_tokens.is_none() || usage.output_tokens.is_none();
    let mut fields = usage.fields().into_iter().zip(total.fields());
    counts_missing || fields.any(|(own, total)| own.is_none() && total.is_some())
}

fn total_cost(requests: &[RequestMeter]) -> Option<u64> {
    let costs = requests.iter().map(|request| request.cost_nano_usd);
    costs.reduce(|sum, cost| Some(sum?.saturating_add(cost?))).flatten()
}

/// The requests behind an answer, the answered one last.
pub(crate) fn meters_of_answer(
    response: &ModelResponse,
    price: Option<Price>,
) -> Vec<RequestMeter> {
    let mut meters = storable(&response.attempts);
    let mut answered = meters.pop().unwrap_or_else(|| RequestMeter::unreported(TurnEnd::Completed));
    if matches!(answered.metering, Metering::Unavailable) && !response.usage.is_unreported() {
        answered.metering = Metering::Tokens(response.usage);
    }
    answered.cost_nano_usd = answered.cost_nano_usd.or(response.cost_nano_usd);
    meters.push(answered);
    priced(meters, price)
}

/// The requests behind a failure. One that may have reached the provider is never left out.
pub(crate) fn meters_of_failure(failure: &PortFailure, price: Option<Price>) -> Vec<RequestMeter> {
    let mut meters = storable(&failure.attempts);
    if meters.is_empty() && failure.commit != CommitDisposition::NotCommitted {
        meters.push(RequestMeter::unreported(TurnEnd::of_failure(failure.kind)));
    }
    priced(meters, price)
}

/// What the adapters passed on from their providers, such that every store can keep it: a duration
/// that is no number of seconds is unknown, and a name of a request is not endless.
fn storable(meters: &[RequestMeter]) -> Vec<RequestMeter> {
    let meters = meters.iter().map(|meter| RequestMeter {
        provider_request_id: meter.provider_request_id.as_deref().map(beginning_of),
        metering: sound(meter.metering),
        ..*meter
    });
    meters.collect()
}

fn beginning_of(name: &str) -> String {
    name[..name.floor_char_boundary(LONGEST_REQUEST_ID_BYTES)].to_owned()
}

fn sound(metering: Metering) -> Metering {
    match metering {
        Metering::DurationSeconds(seconds) if !(0.0..=f64::MAX).contains(&seconds) => {
            Metering::Unavailable
        }
        metering => metering,
    }
}

/// A cost that the provider reported wins over one that the price gives.
fn priced(mut meters: Vec<RequestMeter>, price: Option<Price>) -> Vec<RequestMeter> {
    for meter in &mut meters {
        let computed =
            price.zip(tokens_of(meter)).and_then(|(price, usage)| price.cost_nano_usd(&usage));
        meter.cost_nano_usd = meter.cost_nano_usd.or(computed);
    }
    meters
}

#[cfg(test)]
mod tests;
