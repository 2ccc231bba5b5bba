//! Decides whether what is left is told of what was limited, and of nothing else.

use std::time::Duration;

use runtime_decision::BudgetLimits;

use super::{BudgetLeft, Money};
use crate::job::{Chosen, Left};

const NOTHING: Chosen = Chosen { cycles: false, time: false };
const ALL: Chosen = Chosen { cycles: true, time: true };

fn left(tokens: Option<u64>, cost_nano_usd: Option<u64>, chosen: Chosen) -> BudgetLeft {
    let budget = BudgetLimits { tokens, cost_nano_usd, ..BudgetLimits::default() };
    let time = Duration::from_millis(65_000);
    let left = Left { budget, cycles: 3, time, chosen, ..Left::none() };
    BudgetLeft::of(&left, None)
}

#[test]
fn a_person_is_told_of_what_they_limited() {
    let check = |left: BudgetLeft, line: Option<&str>| assert_eq!(left.line().as_deref(), line);
    check(left(None, None, NOTHING), None);
    check(left(Some(900), None, NOTHING), Some("left    900 tokens"));
    check(left(None, Some(500_000_000), NOTHING), Some("left    cost $0.500000"));
    check(left(None, None, ALL), Some("left    3 cycles; 1 min 05 s"));
    let all = "left    3 cycles; 1 token; cost $0.000000; 1 min 05 s";
    check(left(Some(1), Some(0), ALL), Some(all));
}

#[test]
fn money_that_nobody_can_count_is_unpriced_and_never_nothing() {
    let unpriced = BudgetLeft { cost_nano_usd: Some(Money::Unpriced), ..left(None, None, NOTHING) };
    assert_eq!(unpriced.line().as_deref(), Some("left    cost unpriced"));
    let json = serde_json::to_string(&unpriced).expect("JSON");
    assert_eq!(json, r#"{"cycles":3,"cost_nano_usd":"unpriced","time_ms":65000}"#);
}

#[test]
fn a_program_is_told_of_everything_that_is_limited() {
    let check = |left: BudgetLeft, json: &str| {
        assert_eq!(serde_json::to_string(&left).expect("JSON"), json);
    };
    check(left(None, None, ALL), r#"{"cycles":3,"time_ms":65000}"#);
    check(
        left(Some(9), Some(7), NOTHING),
        r#"{"cycles":3,"tokens":9,"cost_nano_usd":7,"time_ms":65000}"#,
    );
}
