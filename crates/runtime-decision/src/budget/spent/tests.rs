//! Decides whether what is unknown counts as what was reserved, and is never said to be nothing.

use runtime_ports::{
    Metering, ModelFinish, ModelResponse, PortFailure, PortFailureKind, Price, RequestMeter,
    TokenUsage, TurnEnd, UsageTotal,
};

use super::{Bill, Spent, most_cost};
use crate::Amounts;

const PRICE: Price =
    Price { input: 2_000_000, cached_input: Some(1_000_000), cache_write: None, output: 3_000_000 };

fn reserved() -> Amounts {
    Amounts {
        tokens: 100,
        uncached_input_tokens: 60,
        cost_nano_usd: 1_000,
        model_calls: 1,
        ..Amounts::default()
    }
}

fn usage(input: Option<u64>, output: Option<u64>, cached: Option<u64>) -> TokenUsage {
    TokenUsage {
        input_tokens: input,
        output_tokens: output,
        cached_input_tokens: cached,
        ..TokenUsage::default()
    }
}

fn meter(usage: TokenUsage, cost_nano_usd: Option<u64>) -> RequestMeter {
    let metering = Metering::Tokens(usage);
    RequestMeter { metering, cost_nano_usd, ..RequestMeter::unreported(TurnEnd::Completed) }
}

fn response(
    usage: TokenUsage,
    cost_nano_usd: Option<u64>,
    attempts: Vec<RequestMeter>,
) -> ModelResponse {
    let finish = ModelFinish::Stop;
    ModelResponse { output: Vec::new(), finish, usage, cost_nano_usd, attempts }
}

/// Calls, then tokens, uncached tokens and cost as `charged known`, a `?` where more may have been.
fn shown(spent: &Spent) -> String {
    let one = |charged: u64, known: UsageTotal| {
        let mark = if known.complete { "" } else { "?" };
        format!("{charged} {}{mark}", known.at_least)
    };
    let charged = &spent.charged;
    format!(
        "{} calls, {}, {}, {}",
        charged.model_calls,
        one(charged.tokens, spent.tokens),
        one(charged.uncached_input_tokens, spent.uncached_input_tokens),
        one(charged.cost_nano_usd, spent.cost_nano_usd),
    )
}

#[track_caller]
fn check(spent: &Spent, expected: &str) {
    assert_eq!(shown(spent), expected);
}

fn bill(reserved: &Amounts) -> Bill<'_> {
    Bill { reserved, price: Some(&PRICE) }
}

#[test]
fn what_is_reported_counts_and_nothing_else() {
    let reserved = reserved();
    let bill = bill(&reserved);
    let known = usage(Some(10), Some(5), Some(4));
    // 6 × 2 + 4 × 1 + 5 × 3
    check(&bill.answered(&response(known, None, vec![])), "1 calls, 15 15, 6 6, 31 31");
    check(&bill.answered(&response(known, Some(7), vec![])), "1 calls, 15 15, 6 6, 7 7");
    let zero = usage(Some(0), Some(0), Some(0));
    check(&bill.answered(&response(zero, Some(0), vec![])), "1 calls, 0 0, 0 0, 0 0");
    let much = usage(Some(1_000), Some(u64::MAX), Some(0));
    let much = bill.answered(&response(much, Some(9_999), vec![]));
    assert_eq!(much.charged.tokens, u64::MAX, "more than was reserved counts, and saturates");
    assert_eq!(much.charged.cost_nano_usd, 9_999);
}

#[test]
fn what_is_not_reported_counts_as_what_was_reserved() {
    let reserved = reserved();
    let bill = bill(&reserved);
    let none = TokenUsage::default();
    check(&bill.answered(&response(none, None, vec![])), "1 calls, 100 0?, 60 0?, 1000 0?");
    check(&bill.lost(), "1 calls, 100 0?, 60 0?, 1000 0?");
    let half = usage(Some(10), None, Some(0));
    check(&bill.answered(&response(half, None, vec![])), "1 calls, 100 10?, 10 10, 1000 0?");
    let great = usage(Some(500), None, Some(0));
    check(&bill.answered(&response(great, Some(3), vec![])), "1 calls, 500 500?, 500 500, 3 3");
    // Of the cache nothing is known: at least as if all came from it, at most as if none did.
    let uncertain = usage(Some(10), Some(5), None);
    check(&bill.answered(&response(uncertain, None, vec![])), "1 calls, 15 15, 10 0?, 35 25?");
    let contradictory = usage(Some(10), Some(5), Some(11));
    check(&bill.answered(&response(contradictory, None, vec![])), "1 calls, 15 15, 10 0?, 35 25?");
}

#[test]
fn every_attempt_of_a_call_counts() {
    let reserved = reserved();
    let bill = bill(&reserved);
    let known = usage(Some(10), Some(5), Some(4));
    let (lost, last) = (RequestMeter::unreported(TurnEnd::Failed), meter(known, None));
    let answer = response(known, None, vec![lost.clone(), meter(known, Some(1)), last]);
    check(&bill.answered(&answer), "3 calls, 130 30?, 72 12?, 1032 32?");
    let bare = response(known, Some(8), vec![RequestMeter::unreported(TurnEnd::Completed)]);
    check(&bill.answered(&bare), "1 calls, 15 15, 6 6, 8 8");
    let failure = |attempts| {
        PortFailure::in_flight_unknown(PortFailureKind::Protocol, "LOST", "lost")
            .with_attempts(attempts)
    };
    check(&bill.failed(&failure(vec![])), "1 calls, 100 0?, 60 0?, 1000 0?");
    let twice = failure(vec![lost.clone(), meter(known, None)]);
    check(&bill.failed(&twice), "2 calls, 115 15?, 66 6?, 1031 31?");
}

#[test]
fn what_was_not_sent_or_was_refused_used_nothing() {
    let reserved = reserved();
    let bill = bill(&reserved);
    let unsent = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "down");
    check(&bill.failed(&unsent), "0 calls, 0 0, 0 0, 0 0");
    let lost = RequestMeter::unreported(TurnEnd::Failed);
    let refused = |attempts| {
        PortFailure::rejected(PortFailureKind::RateLimited, "SLOW", "slow").with_attempts(attempts)
    };
    check(&bill.failed(&refused(vec![lost.clone()])), "1 calls, 0 0, 0 0, 0 0");
    check(&bill.failed(&refused(vec![lost.clone(), lost])), "2 calls, 100 0?, 60 0?, 1000 0?");
    let billed = meter(usage(Some(3), Some(0), Some(0)), None);
    check(&bill.failed(&refused(vec![billed])), "1 calls, 3 3, 3 3, 6 6");
}

#[test]
fn without_a_price_only_the_provider_knows_the_cost() {
    let reserved = Amounts { cost_nano_usd: 0, ..reserved() };
    let bill = Bill { reserved: &reserved, price: None };
    let known = usage(Some(10), Some(5), Some(4));
    check(&bill.answered(&response(known, None, vec![])), "1 calls, 15 15, 6 6, 0 0?");
    check(&bill.answered(&response(known, Some(4), vec![])), "1 calls, 15 15, 6 6, 4 4");
}

#[test]
fn the_most_that_tokens_can_cost_is_no_less_than_any_report_of_them() {
    let dear_writes = Price { cache_write: Some(4_000_000), ..PRICE };
    for price in [PRICE, dear_writes] {
        for cached in [0, 3, 10] {
            let usage = TokenUsage {
                cache_write_tokens: Some(10 - cached),
                ..usage(Some(10), Some(5), Some(cached))
            };
            assert!(price.cost_nano_usd(&usage).unwrap() <= most_cost(&price, 10, 5));
        }
    }
    assert_eq!(most_cost(&Price { input: u64::MAX, ..PRICE }, u64::MAX, 1), u64::MAX);
}

#[test]
fn what_was_spent_is_written_as_a_list_and_read_again() {
    let mut spent = bill(&reserved()).lost();
    spent.charged.add_tool(&"a".into());
    let written = serde_json::to_string(&spent).unwrap();
    assert_eq!(written, r#"[[100,60,1000,1,1,0],{"a":1},[[0,false],[0,false],[0,false]]]"#);
    assert_eq!(serde_json::from_str::<Spent>(&written).unwrap(), spent);
}
