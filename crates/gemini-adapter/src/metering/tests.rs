//! Which counts are taken from a report, and which are unknown.

use model_wire::Meter;
use serde_json::{Value, json};

use super::observe;

/// The counts in order: in, out, cached, written, reasoning.
fn check(what: &str, reports: &[Value], counts: [Option<u64>; 5]) {
    let mut meter = Meter::default();
    reports.iter().for_each(|report| observe(&mut meter, &json!({ "usageMetadata": report })));
    assert_eq!(meter.usage().fields(), counts, "{what}");
}

#[test]
fn thoughts_count_as_output_and_the_cache_as_input() {
    let report = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 5,
        "thoughtsTokenCount": 20, "totalTokenCount": 125,
    });
    check("everything", &[report], [Some(100), Some(25), Some(40), None, Some(20)]);
    let tools = json!({
        "promptTokenCount": 27, "toolUsePromptTokenCount": 10_309, "candidatesTokenCount": 45,
        "thoughtsTokenCount": 31, "totalTokenCount": 10_412,
    });
    check("tools of the provider", &[tools], [Some(10_336), Some(76), None, None, Some(31)]);
    let within = json!({
        "promptTokenCount": 10, "candidatesTokenCount": 25, "thoughtsTokenCount": 20,
        "totalTokenCount": 35,
    });
    check("thoughts within", &[within], [Some(10), Some(25), None, None, Some(20)]);
}

#[test]
fn an_answer_that_is_not_counted_is_nothing_only_if_the_total_says_so() {
    let thought = |total: u64| json!({"promptTokenCount": 10, "thoughtsTokenCount": 20, "totalTokenCount": total});
    check("thoughts alone", &[thought(30)], [Some(10), Some(20), None, None, Some(20)]);
    check("something else", &[thought(35)], [Some(10), None, None, None, Some(20)]);
    let unproven = json!({"promptTokenCount": 10, "thoughtsTokenCount": 20});
    check("no total", &[unproven], [Some(10), None, None, None, Some(20)]);
    let begun = json!({"promptTokenCount": 10, "totalTokenCount": 10});
    check("the first frame", &[begun], [Some(10), None, None, None, None]);
}

#[test]
fn what_contradicts_itself_is_unknown() {
    let more = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 99});
    check("a total of more", &[more], [Some(10), None, None, None, None]);
    let cached = json!({"promptTokenCount": 10, "cachedContentTokenCount": 11});
    check("more cached than asked", &[cached], [Some(10), None, None, None, None]);
    for hostile in [json!(-1), json!(1.5), json!("12"), json!(null), json!({})] {
        check("no count", &[json!({"promptTokenCount": hostile})], [None; 5]);
    }
    for nothing in [json!(null), json!({}), json!([]), json!("many")] {
        check("no report", &[nothing], [None; 5]);
    }
}

#[test]
fn each_report_counts_from_the_beginning() {
    let report = |out: u64| json!({"promptTokenCount": 10, "candidatesTokenCount": out, "totalTokenCount": 10 + out});
    let counts = [Some(10), Some(9), None, None, None];
    check("growing", &[report(2), report(5), report(9)], counts);
    check("and a frame without counts", &[report(9), json!({})], counts);
    check("shrinking", &[report(9), report(2)], [Some(10), None, None, None, None]);
}
