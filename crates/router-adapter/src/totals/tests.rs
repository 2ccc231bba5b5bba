//! Holds sums to what was reported: nothing invented, every gap stated.

use proptest::prelude::*;
use runtime_ports::{
    CommitDisposition, Metering, ModelFinish, ModelResponse, PortFailure, PortFailureKind, Price,
    RequestMeter, TokenUsage, TurnEnd,
};

use super::{Totals, meters_of_answer, meters_of_failure};

fn usage(input: Option<u64>, output: Option<u64>) -> TokenUsage {
    TokenUsage { input_tokens: input, output_tokens: output, ..TokenUsage::default() }
}

fn request(metering: Metering, cost: Option<u64>) -> RequestMeter {
    RequestMeter { metering, cost_nano_usd: cost, ..RequestMeter::unreported(TurnEnd::Completed) }
}

fn tokens(input: Option<u64>, output: Option<u64>) -> Metering {
    Metering::Tokens(usage(input, output))
}

fn check(requests: &[Metering], metering: Metering, is_lower_bound: bool) {
    let requests: Vec<_> = requests.iter().map(|metering| request(*metering, None)).collect();
    let totals = Totals { metering, is_lower_bound, cost_nano_usd: None };
    assert_eq!(Totals::of(&requests), totals, "{requests:?}");
}

#[test]
fn sums_hold_what_is_known_and_say_what_is_missing() {
    let (one, two) = (tokens(Some(10), Some(1)), tokens(Some(20), Some(2)));
    check(&[], Metering::Unavailable, false);
    check(&[one], one, false);
    check(&[one, two], tokens(Some(30), Some(3)), false);
    check(&[one, Metering::Unavailable], one, true);
    check(&[Metering::Unavailable], Metering::Unavailable, true);
    check(&[tokens(None, None)], Metering::Unavailable, true);
    check(&[tokens(Some(5), None)], tokens(Some(5), None), true);
    check(&[one, tokens(None, Some(4))], tokens(Some(10), Some(5)), true);
    check(&[tokens(Some(u64::MAX), Some(0)), one], tokens(Some(u64::MAX), Some(1)), false);
    check(&[tokens(Some(0), Some(0))], tokens(Some(0), Some(0)), false);
}

#[test]
fn a_detail_is_owed_only_by_requests_of_a_provider_that_reports_it() {
    let cached = |cached| {
        Metering::Tokens(TokenUsage { cached_input_tokens: cached, ..usage(Some(9), Some(1)) })
    };
    check(&[cached(None)], cached(None), false);
    let both = TokenUsage { cached_input_tokens: Some(4), ..usage(Some(18), Some(2)) };
    check(&[cached(Some(4)), cached(None)], Metering::Tokens(both), true);
}

#[test]
fn seconds_add_up_beside_tokens() {
    let second = Metering::DurationSeconds(1.5);
    check(&[second, second], Metering::DurationSeconds(3.0), false);
    check(&[second, Metering::Unavailable], second, true);
    let one = tokens(Some(1), Some(1));
    check(&[second, one], one, true);
}

#[test]
fn a_cost_is_known_when_every_cost_is() {
    let cost_of = |costs: &[Option<u64>]| {
        let requests: Vec<_> =
            costs.iter().map(|cost| request(Metering::Unavailable, *cost)).collect();
        Totals::of(&requests).cost_nano_usd
    };
    assert_eq!(cost_of(&[]), None);
    assert_eq!(cost_of(&[Some(0)]), Some(0));
    assert_eq!(cost_of(&[Some(1), Some(2)]), Some(3));
    assert_eq!(cost_of(&[Some(1), None, Some(2)]), None);
    assert_eq!(cost_of(&[Some(u64::MAX), Some(2)]), Some(u64::MAX));
}

const PRICE: Price =
    Price { input: 1_000_000, cached_input: None, cache_write: None, output: 2_000_000 };

fn answer(usage: TokenUsage, cost: Option<u64>, attempts: Vec<RequestMeter>) -> ModelResponse {
    let (output, finish) = (Vec::new(), ModelFinish::Stop);
    ModelResponse { output, finish, usage, cost_nano_usd: cost, attempts }
}

#[test]
fn an_answer_without_attempts_is_one_request() {
    let meters = meters_of_answer(&answer(usage(Some(3), Some(1)), None, Vec::new()), Some(PRICE));
    assert_eq!(meters, [request(tokens(Some(3), Some(1)), Some(5))]);
    let silent = meters_of_answer(&answer(TokenUsage::default(), None, Vec::new()), Some(PRICE));
    assert_eq!(silent, [request(Metering::Unavailable, None)]);
}

#[test]
fn a_cost_that_the_provider_states_wins_over_the_price() {
    let stated = answer(usage(Some(3), Some(1)), Some(99), Vec::new());
    assert_eq!(meters_of_answer(&stated, Some(PRICE))[0].cost_nano_usd, Some(99));
    let listed = request(tokens(Some(3), Some(1)), Some(98));
    let stated = answer(usage(Some(3), Some(1)), Some(99), vec![listed]);
    assert_eq!(meters_of_answer(&stated, Some(PRICE))[0].cost_nano_usd, Some(98));
}

#[test]
fn earlier_attempts_of_an_answer_keep_their_own_report() {
    let refused = RequestMeter::unreported(TurnEnd::Failed);
    let last = request(Metering::Unavailable, None);
    let listed = answer(usage(Some(3), Some(1)), None, vec![refused.clone(), last]);
    let meters = meters_of_answer(&listed, Some(PRICE));
    assert_eq!(meters, [refused, request(tokens(Some(3), Some(1)), Some(5))]);
}

#[test]
fn a_failure_that_may_have_been_sent_is_a_request() {
    let unknown = |kind| PortFailure::in_flight_unknown(kind, "X", "x");
    let ends = [
        (PortFailureKind::Timeout, TurnEnd::TimedOut),
        (PortFailureKind::Canceled, TurnEnd::Cancelled),
        (PortFailureKind::Protocol, TurnEnd::Failed),
    ];
    for (kind, end) in ends {
        assert_eq!(meters_of_failure(&unknown(kind), Some(PRICE)), [RequestMeter::unreported(end)]);
    }
    let unsent = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "down");
    assert_eq!(meters_of_failure(&unsent, Some(PRICE)), []);
}

fn any_count() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), Just(Some(0)), (0..1_000u64).prop_map(Some), Just(Some(u64::MAX))]
}

fn any_metering() -> impl Strategy<Value = Metering> {
    prop_oneof![
        Just(Metering::Unavailable),
        (any_count(), any_count()).prop_map(|(input, output)| tokens(input, output)),
    ]
}

/// Regression "an unreported token count stored as 0".
mod an_unreported_token_count_stored_as_0 {
    use super::*;

    proptest! {
        #[test]
        fn a_zero_was_reported_and_a_whole_sum_has_no_gap(
            meterings in proptest::collection::vec(any_metering(), 0..6),
        ) {
            let requests: Vec<_> =
                meterings.iter().map(|metering| request(*metering, None)).collect();
            let totals = Totals::of(&requests);
            let counts = |field: usize| {
                meterings.iter().map(move |metering| match metering {
                    Metering::Tokens(usage) => usage.fields()[field],
                    _ => None,
                }).collect::<Vec<_>>()
            };
            let sums = match totals.metering {
                Metering::Tokens(usage) => usage.fields(),
                _ => [None; 5],
            };
            for (field, sum) in sums.into_iter().enumerate().take(2) {
                let known: Vec<u64> = counts(field).into_iter().flatten().collect();
                let expected = known.iter().copied().reduce(u64::saturating_add);
                prop_assert_eq!(sum, expected);
                let gap = counts(field).contains(&None);
                prop_assert!(!gap || totals.is_lower_bound);
            }
        }

        #[test]
        fn a_failure_never_reports_a_count(
            commit in prop_oneof![
                Just(CommitDisposition::Committed),
                Just(CommitDisposition::Unknown),
                Just(CommitDisposition::NotCommitted),
            ],
        ) {
            let failure = PortFailure {
                commit,
                ..PortFailure::rejected(PortFailureKind::Protocol, "X", "x")
            };
            let meters = meters_of_failure(&failure, Some(PRICE));
            let silent = |meter: &RequestMeter| {
                meter.metering == Metering::Unavailable && meter.cost_nano_usd.is_none()
            };
            prop_assert!(meters.iter().all(silent));
        }
    }
}
