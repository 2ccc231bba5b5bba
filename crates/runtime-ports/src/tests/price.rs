//! Decides whether a cost is exact, rounded up, or unknown, and never wraps.

use proptest::prelude::*;

use crate::{Price, TokenUsage};

/// Nano-dollars per token, for readable cases.
const EACH: u64 = 1_000_000;

fn usage(input: Option<u64>, cached: Option<u64>, written: Option<u64>) -> TokenUsage {
    TokenUsage {
        input_tokens: input,
        cached_input_tokens: cached,
        cache_write_tokens: written,
        output_tokens: Some(1),
        reasoning_tokens: None,
    }
}

#[test]
fn tokens_cost_what_their_kind_costs() {
    let plain =
        Price { input: 10 * EACH, cached_input: None, cache_write: None, output: 20 * EACH };
    let cached = Price { cached_input: Some(EACH), ..plain };
    let written = Price { cache_write: Some(12 * EACH), ..cached };
    let cases = [
        ("no cache price: all is input", plain, usage(Some(5), Some(3), Some(1)), Some(70)),
        ("no cache price: no count needed", plain, usage(Some(5), None, None), Some(70)),
        ("cached ones are cheaper", cached, usage(Some(5), Some(3), None), Some(43)),
        ("a count that the price needs", cached, usage(Some(5), None, None), None),
        ("written ones are dearer", written, usage(Some(5), Some(3), Some(1)), Some(45)),
        ("written count needed", written, usage(Some(5), Some(3), None), None),
        ("more cached than there are", cached, usage(Some(5), Some(6), None), None),
        ("parts beyond the whole", written, usage(Some(5), Some(3), Some(3)), None),
        ("input unknown", plain, usage(None, None, None), None),
        ("nothing but one answer token", plain, usage(Some(0), None, None), Some(20)),
    ];
    for (case, price, usage, expected) in cases {
        assert_eq!(price.cost_nano_usd(&usage), expected, "{case}");
    }
    let no_output = TokenUsage { output_tokens: None, ..usage(Some(5), None, None) };
    assert_eq!(plain.cost_nano_usd(&no_output), None);
}

#[test]
fn a_price_equal_to_the_input_price_needs_no_count() {
    let price = Price { input: EACH, cached_input: Some(EACH), cache_write: Some(EACH), output: 0 };
    assert_eq!(price.cost_nano_usd(&usage(Some(5), None, None)), Some(5));
}

#[test]
fn fractions_are_rounded_up_once() {
    let price = Price { input: 1, cached_input: None, cache_write: None, output: 1 };
    assert_eq!(price.cost_nano_usd(&usage(Some(0), None, None)), Some(1));
    assert_eq!(price.cost_nano_usd(&usage(Some(999_999), None, None)), Some(1));
    assert_eq!(price.cost_nano_usd(&usage(Some(1_000_000), None, None)), Some(2));
    let free = Price { input: 0, cached_input: None, cache_write: None, output: 0 };
    assert_eq!(free.cost_nano_usd(&usage(Some(u64::MAX), None, None)), Some(0));
}

#[test]
fn what_does_not_fit_is_unknown() {
    let price = Price {
        input: u64::MAX,
        cached_input: Some(u64::MAX - 1),
        cache_write: None,
        output: u64::MAX,
    };
    let most = TokenUsage { output_tokens: Some(u64::MAX), ..usage(Some(u64::MAX), Some(0), None) };
    assert_eq!(price.cost_nano_usd(&most), None);
}

proptest! {
    #[test]
    fn no_usage_and_no_price_panics(
        prices: (u64, Option<u64>, Option<u64>, u64),
        counts: (Option<u64>, Option<u64>, Option<u64>, Option<u64>),
    ) {
        let (input, cached_input, cache_write, output) = prices;
        let price = Price { input, cached_input, cache_write, output };
        let (input_tokens, cached, written, output_tokens) = counts;
        let usage = TokenUsage { output_tokens, ..usage(input_tokens, cached, written) };
        let cost = price.cost_nano_usd(&usage);
        prop_assert!(cost.is_none() || (input_tokens.is_some() && output_tokens.is_some()));
    }
}
