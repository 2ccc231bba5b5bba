//! Which counts and costs are taken from a report, and which are unknown.

use runtime_ports::Metering;
use serde_json::{Value, json};

use super::{Meter, nano_usd, observe};
use crate::{
    profile::{Counts, Reading},
    rehearsal::lenient,
};

fn as_lenient() -> Counts {
    Reading::of(lenient()).counts
}

/// The counts in order: in, out, cached, written, reasoning; then the cost.
fn check(what: &str, frames: &[Value], counts: [Option<u64>; 5], cost: Option<u64>) {
    let mut meter = Meter::default();
    frames.iter().for_each(|frame| observe(&mut meter, frame, as_lenient()));
    assert_eq!(meter.usage().fields(), counts, "{what}");
    assert_eq!(meter.cost_nano_usd(), cost, "{what}");
}

fn reported(what: &str, usage: Value, counts: [Option<u64>; 5], cost: Option<u64>) {
    check(what, &[json!({"usage": usage})], counts, cost);
}

const UNKNOWN: [Option<u64>; 5] = [None; 5];

#[test]
fn both_apis_report_the_same_counts() {
    let counts = [Some(10), Some(5), Some(4), Some(3), Some(2)];
    let chat = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    });
    reported("chat", chat, counts, None);
    let responses = json!({
        "input_tokens": 10, "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
        "output_tokens_details": {"reasoning_tokens": 2},
    });
    reported("responses", responses, counts, None);
}

#[test]
fn what_is_not_reported_is_unknown() {
    check("no usage", &[json!({"choices": []})], UNKNOWN, None);
    for usage in [json!(null), json!({}), json!([]), json!("many"), json!(7)] {
        reported("nothing in it", usage, UNKNOWN, None);
    }
    let nulls = json!({
        "prompt_tokens": null, "completion_tokens": 3, "cost": null,
        "prompt_tokens_details": null, "completion_tokens_details": {"reasoning_tokens": null},
    });
    reported("nested nulls", nulls, [None, Some(3), None, None, None], None);
    for hostile in [json!(-1), json!(1.5), json!("12"), json!(1e300), json!(true), json!({})] {
        reported("no count", json!({"prompt_tokens": hostile}), UNKNOWN, None);
    }
    let zero = json!({"prompt_tokens": 0, "completion_tokens": 0});
    reported("zero", zero, [Some(0), Some(0), None, None, None], None);
    let floats = json!({"prompt_tokens": 12.0, "completion_tokens": u64::MAX});
    reported("odd spellings", floats, [Some(12), Some(u64::MAX), None, None, None], None);
}

#[test]
fn the_last_known_value_wins_and_a_lower_one_makes_it_unknown() {
    let usage = |input: Value, output: Value| json!({"usage": {"prompt_tokens": input, "completion_tokens": output}});
    let cumulative = [usage(json!(10), json!(1)), usage(json!(10), json!(2))];
    check("cumulative", &cumulative, [Some(10), Some(2), None, None, None], None);
    let trailing = [usage(json!(10), json!(2)), json!({"usage": null}), json!({"usage": {}})];
    check("trailing nothing", &trailing, [Some(10), Some(2), None, None, None], None);
    let lower = [usage(json!(10), json!(5)), usage(json!(10), json!(2))];
    check("contradiction", &lower, [Some(10), None, None, None, None], None);
}

#[test]
fn parts_beside_their_whole_are_told_by_the_total() {
    let beside = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 215,
        "completion_tokens_details": {"reasoning_tokens": 200},
    });
    reported("beside", beside, [Some(10), Some(205), None, None, Some(200)], None);
    let within = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "completion_tokens_details": {"reasoning_tokens": 4},
    });
    reported("within", within, [Some(10), Some(5), None, None, Some(4)], None);
    let unproven = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 9},
    });
    reported("unproven", unproven, [Some(10), Some(5), None, None, None], None);
    let anthropic = json!({
        "input_tokens": 3, "output_tokens": 5,
        "cache_read_input_tokens": 40, "cache_creation_input_tokens": 7,
    });
    reported("the cache beside", anthropic, [Some(50), Some(5), Some(40), Some(7), None], None);
    let deepseek = json!({"prompt_tokens": 10, "prompt_cache_hit_tokens": 6});
    reported("cache hits", deepseek, [Some(10), None, Some(6), None, None], None);
}

#[test]
fn costs_become_nano_dollars() {
    reported("dollars", json!({"cost": 6.75e-6}), UNKNOWN, Some(6_750));
    reported("ticks", json!({"cost_in_usd_ticks": 37_756_000}), UNKNOWN, Some(3_775_600));
    reported("free", json!({"cost": 0}), UNKNOWN, Some(0));
    for hostile in [json!(-1.0), json!("1"), json!(1e300), json!({"total": 1})] {
        reported("no cost", json!({"cost": hostile}), UNKNOWN, None);
    }
    for hostile in [f64::NAN, f64::INFINITY, -1e-9] {
        assert_eq!(nano_usd(hostile), None);
    }
    let groq = json!({"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}});
    check("in a vendor's place", &[groq], [Some(3), Some(1), None, None, None], None);
}

#[test]
fn nothing_reported_is_unavailable() {
    assert_eq!(Meter::default().metering(), Metering::Unavailable);
}
