//! Decides how counts, times, tokens and money are put into words.
//!
//! Invariant: what is unknown is called unavailable or a lower bound, never 0.

use runtime_ports::{Metering, UsageReceipt, UsageTotal};

const NANO: u64 = 1_000_000_000;

/// `1 line`, `2 lines`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `0.3 s`, `42 s`, `3 min 05 s`, `2 h 05 min`.
pub(crate) fn duration(milliseconds: u64) -> String {
    let tenths = milliseconds.saturating_add(50) / 100;
    let seconds = milliseconds.saturating_add(500) / 1_000;
    match seconds {
        _ if tenths < 100 => format!("{}.{} s", tenths / 10, tenths % 10),
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// `12`, `at least 12`, or `unavailable` when nothing at all is known.
pub(crate) fn tokens(total: UsageTotal) -> String {
    match (total.at_least, total.complete) {
        (0, false) => "unavailable".to_owned(),
        (known, true) => known.to_string(),
        (known, false) => format!("at least {known}"),
    }
}

/// Dollars, in the same three forms.
pub(crate) fn cost(total: UsageTotal) -> String {
    let dollars = dollars(total.at_least);
    match (total.at_least, total.complete) {
        (0, false) => "unavailable".to_owned(),
        (_, true) => dollars,
        (_, false) => format!("at least {dollars}"),
    }
}

/// Six decimals, rounded up: what cost something is not shown as nothing.
fn dollars(nano_usd: u64) -> String {
    let micro = nano_usd.div_ceil(1_000);
    format!("${}.{:06}", micro / (NANO / 1_000), micro % (NANO / 1_000))
}

/// Tokens in and out of one turn.
pub(crate) fn tokens_of(receipt: &UsageReceipt) -> (String, String) {
    let unknown = || "unavailable".to_owned();
    let Metering::Tokens(usage) = receipt.metering else { return (unknown(), unknown()) };
    let complete = !receipt.is_lower_bound;
    let known = |count: Option<u64>| match count {
        Some(at_least) => tokens(UsageTotal { at_least, complete }),
        None => unknown(),
    };
    (known(usage.input_tokens), known(usage.output_tokens))
}

/// What one turn cost.
pub(crate) fn cost_of(receipt: &UsageReceipt) -> String {
    match receipt.cost_nano_usd {
        Some(at_least) => cost(UsageTotal { at_least, complete: !receipt.is_lower_bound }),
        None => "unavailable".to_owned(),
    }
}

/// `tokens in 10, out 3`, or `tokens unavailable`.
pub(crate) fn tokens_in_and_out(input: &str, output: &str) -> String {
    match (input, output) {
        ("unavailable", "unavailable") => "tokens unavailable".to_owned(),
        _ => format!("tokens in {input}, out {output}"),
    }
}

#[cfg(test)]
mod tests;
