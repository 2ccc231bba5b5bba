//! Decides whether receipts are summed by day, user, provider and model, and say what is missing.

use uuid::Uuid;

use crate::{
    AgentProvider, Metering, ReceiptTotals, RequestMeter, TokenUsage, TurnEnd, UsageReceipt,
    UsageTotal,
};

const DAY_MS: u64 = 86_400_000;

fn receipt(user: &str, started_at_ms: u64, metering: Metering, cost: Option<u64>) -> UsageReceipt {
    let request = RequestMeter {
        provider_request_id: None,
        metering,
        end: TurnEnd::Completed,
        cost_nano_usd: cost,
    };
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: Uuid::from_u128(1),
        parent_operation_id: None,
        user_id: user.to_owned(),
        requested_model: "alias".to_owned(),
        provider: AgentProvider::new("provider"),
        provider_model: "model".to_owned(),
        thread_id: None,
        started_at_ms,
        ended_at_ms: started_at_ms + DAY_MS,
        end: TurnEnd::Completed,
        requests: vec![request; 2],
        metering,
        is_lower_bound: false,
        cost_nano_usd: cost,
        losses: Vec::new(),
    }
}

fn tokens(input: Option<u64>, output: Option<u64>) -> Metering {
    let usage = TokenUsage { input_tokens: input, output_tokens: output, ..TokenUsage::default() };
    Metering::Tokens(usage)
}

fn total(at_least: u64, complete: bool) -> UsageTotal {
    UsageTotal { at_least, complete }
}

#[test]
fn what_was_not_reported_makes_a_sum_a_lower_bound() {
    let known = receipt("ada", 0, tokens(Some(3), Some(1)), Some(5));
    let cases = [
        (receipt("ada", 0, tokens(Some(4), Some(1)), Some(5)), (total(7, true), total(2, true))),
        (receipt("ada", 0, tokens(Some(4), None), Some(5)), (total(7, true), total(1, false))),
        (receipt("ada", 0, Metering::Unavailable, Some(5)), (total(3, false), total(1, false))),
        (
            receipt("ada", 0, Metering::DurationSeconds(1.0), Some(5)),
            (total(3, false), total(1, false)),
        ),
    ];
    for (other, (input, output)) in cases {
        let sums = ReceiptTotals::sum([&known, &other]);
        assert_eq!(sums.len(), 1);
        assert_eq!((sums[0].turns, sums[0].requests), (2, 4));
        assert_eq!((sums[0].input_tokens, sums[0].output_tokens), (input, output), "{other:?}");
        assert_eq!(sums[0].cost_nano_usd, total(10, true));
    }
}

#[test]
fn a_receipt_that_is_a_lower_bound_leaves_no_complete_token_sum() {
    let partial = receipt("ada", 0, tokens(Some(3), Some(1)), Some(5));
    let partial = UsageReceipt { is_lower_bound: true, cost_nano_usd: None, ..partial };
    let sums = ReceiptTotals::sum([&partial]);
    assert_eq!(sums[0].input_tokens, total(3, false));
    assert_eq!(sums[0].output_tokens, total(1, false));
    assert_eq!(sums[0].cost_nano_usd, total(0, false));
}

#[test]
fn groups_are_sorted_by_day_of_the_start_user_provider_and_model() {
    let one = |user, start| receipt(user, start, tokens(Some(1), Some(1)), None);
    let other_model = UsageReceipt { provider_model: "a-model".into(), ..one("ada", 5) };
    let other_provider =
        UsageReceipt { provider: AgentProvider::new("a-provider"), ..one("ada", 5) };
    let receipts = [
        one("bob", DAY_MS - 1),
        one("ada", DAY_MS),
        one("ada", DAY_MS - 1),
        other_model,
        other_provider,
        one("ada", 0),
    ];
    let sums = ReceiptTotals::sum(&receipts);
    let shown: Vec<_> = sums
        .iter()
        .map(|sum| {
            let (day, user) = (sum.utc_day, &sum.user_id);
            format!("{day} {user} {} {} {}", sum.provider, sum.provider_model, sum.turns)
        })
        .collect();
    let expected = [
        "1970-01-01 ada a-provider model 1",
        "1970-01-01 ada provider a-model 1",
        "1970-01-01 ada provider model 2",
        "1970-01-01 bob provider model 1",
        "1970-01-02 ada provider model 1",
    ];
    assert_eq!(shown, expected);
    assert_eq!(ReceiptTotals::sum([]), []);
}
