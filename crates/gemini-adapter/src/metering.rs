//! Decides which numbers of a usage report are taken, and what they mean.
//!
//! Knows nothing about which frame carried the report. Each report counts from the beginning of the
//! answer. Invariant: a number that was not reported, or that the total of its report contradicts,
//! is `None`.

use model_wire::{Meter, metering::count};
use runtime_ports::TokenUsage;
use serde_json::Value;

/// Takes the report of one frame, if it has one.
pub(crate) fn observe(meter: &mut Meter, frame: &Value) {
    if let Some(report) = frame.get("usageMetadata") {
        meter.observe_usage(&token_usage(report));
    }
}

fn token_usage(report: &Value) -> TokenUsage {
    let of = |name: &str| count(report, &[name]);
    let input = with(of("promptTokenCount"), of("toolUsePromptTokenCount"));
    let thoughts = of("thoughtsTokenCount");
    let output = output(of("candidatesTokenCount"), thoughts, input.zip(of("totalTokenCount")));
    let within = |whole: Option<u64>| move |part: &u64| whole.is_none_or(|whole| *part <= whole);
    TokenUsage {
        input_tokens: input,
        output_tokens: output,
        cached_input_tokens: of("cachedContentTokenCount").filter(within(input)),
        cache_write_tokens: None,
        reasoning_tokens: thoughts.filter(within(output)),
    }
}

/// What tools of the provider added to the prompt stands beside it; most requests have nothing of
/// the kind, and then nothing is reported.
fn with(prompt: Option<u64>, more: Option<u64>) -> Option<u64> {
    prompt?.checked_add(more.unwrap_or(0))
}

/// All that was generated. The API counts thoughts beside the answer and gateways count them within;
/// the total tells. It also proves that an answer which is not counted has no tokens.
fn output(answer: Option<u64>, thoughts: Option<u64>, rest: Option<(u64, u64)>) -> Option<u64> {
    let generated = rest.map(|(input, total)| total.checked_sub(input));
    match (answer, thoughts) {
        (Some(answer), Some(thoughts)) if generated == Some(Some(answer)) && thoughts <= answer => {
            Some(answer)
        }
        (Some(answer), Some(thoughts)) => answer
            .checked_add(thoughts)
            .filter(|both| generated.is_none_or(|all| all == Some(*both))),
        (Some(answer), None) => {
            Some(answer).filter(|_| generated.is_none_or(|all| all == Some(answer)))
        }
        (None, Some(thoughts)) => Some(thoughts).filter(|_| generated == Some(Some(thoughts))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
