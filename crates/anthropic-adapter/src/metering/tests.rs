//! What the counts of a request without marks come to; those with marks are in the tests of the
//! stream.

use serde_json::{Value, json};

use super::{Moment, meter};
use crate::body::Marks;

fn observe(meter: &mut model_wire::Meter, event: &Value) {
    super::observe(meter, event, Moment::Later);
}

fn input(marks: Marks, reports: &[Value]) -> Option<u64> {
    let mut meter = meter(marks);
    for report in reports {
        observe(&mut meter, &json!({"usage": report}));
    }
    meter.usage().input_tokens
}

#[test]
fn what_nobody_asked_to_keep_was_not_written() {
    let read = json!({"input_tokens": 11, "cache_read_input_tokens": 1});
    assert_eq!(input(Marks::Left, std::slice::from_ref(&read)), Some(12));
    assert_eq!(input(Marks::Set, std::slice::from_ref(&read)), None);
    let lower = json!({"cache_read_input_tokens": 0});
    assert_eq!(input(Marks::Left, &[read, lower]), None, "contradicted");
}

#[test]
fn writes_may_be_reported_by_age() {
    let report = json!({"input_tokens": 1, "cache_read_input_tokens": 2,
        "cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}});
    assert_eq!(input(Marks::Set, &[report]), Some(10));
    let half = json!({"input_tokens": 1, "cache_read_input_tokens": 2,
        "cache_creation": {"ephemeral_5m_input_tokens": 3}});
    assert_eq!(input(Marks::Set, &[half]), None);
}

#[test]
fn impossible_numbers_are_none() {
    let odd = json!({"input_tokens": -1, "output_tokens": "7", "cache_read_input_tokens": 1.5});
    let mut meter = meter(Marks::Set);
    observe(&mut meter, &json!({"usage": odd}));
    assert!(meter.usage().is_unreported());
    let most = json!({"input_tokens": u64::MAX, "cache_read_input_tokens": 1, "cache_creation_input_tokens": 0});
    assert_eq!(input(Marks::Set, &[most]), None);
    let thinking = json!({"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 6}});
    observe(&mut meter, &json!({"usage": thinking}));
    assert_eq!(meter.usage().reasoning_tokens, None, "a part above its whole");
}

#[test]
fn a_cost_of_a_gateway_is_taken() {
    let mut meter = meter(Marks::Set);
    observe(&mut meter, &json!({"usage": {"cost": 0.00125}}));
    assert_eq!(meter.cost_nano_usd(), Some(1_250_000));
}
