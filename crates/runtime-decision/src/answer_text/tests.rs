//! Decides whether the one value that is meant is found, and nothing else is taken for it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::value_in;

#[track_caller]
fn means(text: &str, value: &Value) {
    assert_eq!(value_in(text).as_ref(), Ok(value), "{text}");
}

#[track_caller]
fn refused(text: &str, reason: &str) {
    let told = value_in(text).expect_err("no value");
    assert!(told.contains(reason), "{told}");
}

#[test]
fn a_text_that_is_json_is_its_value() {
    means("{\"a\": 1}", &json!({"a": 1}));
    means(" \n[1, 2]\n", &json!([1, 2]));
    means("\"red\"", &json!("red"));
    means("-1.5e3", &json!(-1500.0));
    means("18446744073709551615", &json!(u64::MAX));
    means("null", &Value::Null);
    means("\u{feff}{\"é\": \"日本\"}", &json!({"é": "日本"}));
    means("\u{feff} true", &json!(true));
    means("\"{\\\"a\\\": 1}\"", &json!("{\"a\": 1}"));
}

#[test]
fn a_block_between_fences_is_taken_before_prose() {
    means("Here you are {sic}:\n```json\n{\"a\": 1}\n```\nDone [1].", &json!({"a": 1}));
    means("```\n[\"x\"]\n```", &json!(["x"]));
    means("```JSON\r\n\"red\"\r\n```", &json!("red"));
    means("```json\n{\"text\": \"```\"}\n```", &json!({"text": "```"}));
    means(
        "the code\n```python\nx = {}\n```\nand the answer\n```json\n{\"a\": 1}\n```",
        &json!({"a": 1}),
    );
    means("the end is missing\n```json\n{\"a\": 1}", &json!({"a": 1}));
    means("several, one of them an object\n```\n[1]\n```\n```\n{\"a\": 1}\n```", &json!({"a": 1}));
}

#[test]
fn the_one_value_in_prose_is_taken() {
    means("The answer is {\"a\": {\"b\": [1, {}]}}, I think.", &json!({"a": {"b": [1, {}]}}));
    means("It's {\"a\": \"}\\\"{\"} as in [1] and [2].", &json!({"a": "}\"{"}));
    means("Take [{\"a\": 1}, {\"a\": 2}].", &json!([{"a": 1}, {"a": 2}]));
    means("{name} and {\"a\": 1}", &json!({"a": 1}));
    means("unclosed { and then {\"a\": 1}", &json!({"a": 1}));
    means("said twice: {\"a\": 1}; again: { \"a\" : 1 }", &json!({"a": 1}));
    means("```rust\nlet x = 1;\n```\n{\"a\": 1}", &json!({"a": 1}));
}

#[test]
fn what_could_mean_several_values_is_refused() {
    refused("{\"a\": 1} or {\"a\": 2}", "several JSON values");
    refused("[1] or [2]", "several JSON values");
    refused("{\"a\": 1}{\"a\": 2}", "several JSON values");
    refused("```json\n{\"a\": 1}\n```\n```json\n{\"a\": 2}\n```", "several JSON values");
    refused("so {\"a\": 1, \"a\": 1} or {\"a\": 1}", "several JSON values");
}

#[test]
fn what_is_no_json_says_so() {
    refused("", "holds no JSON value");
    refused("done", "holds no JSON value");
    refused("The number is 42.", "holds no JSON value");
    refused("NaN", "holds no JSON value");
    refused("{\"a\": NaN}", "is no JSON: expected value at line 1 column 7");
    refused("[Infinity]", "is no JSON: expected value at line 1 column 2");
    refused("{\"a\": 1e999}", "is no JSON: number out of range");
    refused("{'a': 1}", "is no JSON: key must be a string");
    refused("{\"a\": 1,}", "is no JSON: trailing comma");
    refused("{\"a\": \"\\ud800\"}", "is no JSON: ");
    refused("{\"a\": \"cut", "is no JSON: EOF");
}

#[test]
fn json_that_readers_would_not_agree_on_is_refused() {
    refused("{\"a\": 1, \"a\": 2}", "has the key \"a\" twice at line 1 column 12");
    refused("x {\"b\": {\"a\": 1, \"\\u0061\": 2}} y", "has the key \"a\" twice");
    let key = "k".repeat(10_000);
    let told = value_in(&format!("{{\"{key}\": 1, \"{key}\": 2}}")).expect_err("no value");
    assert!(told.len() < 200, "{told}");
}

#[test]
fn json_that_could_not_be_stored_is_refused() {
    let nested = |levels: usize| [vec!["["; levels], vec!["]"; levels]].concat().concat();
    assert!(value_in(&nested(64)).is_ok());
    refused(&nested(65), "is nested more than 64 levels deep");
    refused(&"[".repeat(1 << 20), "is nested more than 64 levels deep");
    refused(&"{\"a\":".repeat(1 << 18), "is nested more than 64 levels deep");
    refused(&format!("prose {}", nested(65)), "is nested more than 64 levels deep");
}

/// Looking at the rest of such a text from each of its brackets would take hours.
#[test]
fn hostile_prose_takes_no_longer_than_other_prose() {
    for piece in
        ["[", "{", "[\"", "{\"[", "[1,", "x{\"a\":[", "\"[\\", "[]", "{}", "```\n{", "```json\n"]
    {
        let text = format!("prose {}", piece.repeat(1 << 18));
        let _ = value_in(&text);
    }
    let huge = json!({"text": "é".repeat(1 << 20)});
    means(&format!("so: {huge}"), &huge);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_json_says_is_read_as_it_is(value in values()) {
        prop_assert_eq!(value_in(&value.to_string()), Ok(value.clone()));
        let fenced = format!("Of course.\n```json\n{value:#}\n```\nAnything else?");
        prop_assert_eq!(value_in(&fenced), Ok(value));
    }

    #[test]
    fn objects_in_prose_are_found(value in values(), before in "[^{}\\[\\]`]{0,20}") {
        let object = json!({"it": value});
        prop_assert_eq!(value_in(&format!("{before} {object} [1]")), Ok(object));
    }

    #[test]
    fn no_text_breaks_it(text in "[{}\\[\\]\",:0-9aé`\\\\\n ]{0,80}") {
        let _ = value_in(&text);
    }
}
