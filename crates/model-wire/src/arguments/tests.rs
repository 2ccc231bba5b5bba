//! Which texts are arguments, which are cut, and which are neither.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Arguments, Balance, RAW_LIMIT};

fn whole(text: &str, expected: Value) {
    assert_eq!(Arguments::read(text), Arguments::Whole(expected), "{text:?}");
}

#[test]
fn texts_are_told_apart() {
    whole(r#"{"a":1}"#, json!({"a": 1}));
    whole(" {\"a\": [1, null]}\n", json!({"a": [1, null]}));
    for nothing in ["", " ", "\n", "null", "{}"] {
        whole(nothing, json!({}));
    }
    whole("5", json!(5));
    whole("[]", json!([]));
    whole("true", json!(true));
    for raw in [r#""x""#, r#""{\"a\":1}""#, "{a: 1}", r#"{"a":1} and so on"#, r#"{"a":"\ud800"}"#] {
        whole(raw, Value::String(raw.to_owned()));
    }
}

#[test]
fn a_whole_number_that_would_lose_digits_is_no_number() {
    whole(r#"{"id":18446744073709551615}"#, json!({"id": u64::MAX}));
    whole(r#"{"id":-9223372036854775808}"#, json!({"id": i64::MIN}));
    whole(r#"{"x":1e30}"#, json!({"x": 1e30}));
    whole(r#"{"x":1e30,"y":"18446744073709551616 \" 1"}"#, {
        json!({"x": 1e30, "y": "18446744073709551616 \" 1"})
    });
    for raw in [
        r#"{"id":18446744073709551616}"#,
        r#"{"a":[{"b":-9223372036854775809}]}"#,
        r#"{"s":"\"","id":123456789012345678901234567890}"#,
    ] {
        whole(raw, Value::String(raw.to_owned()));
    }
}

#[test]
fn placeholders_and_repetitions_are_one_call() {
    whole(r#"{}{"a":1}"#, json!({"a": 1}));
    whole(r#"null{"a":1}"#, json!({"a": 1}));
    whole(r#"{"a":1}{"a":1}"#, json!({"a": 1}));
    whole(r#"{"a":1} {"a": 1}"#, json!({"a": 1}));
    whole(r#"{}{"a":1}{"a":1}"#, json!({"a": 1}));
    let two = r#"{"a":1}{"a":2}"#;
    whole(two, Value::String(two.to_owned()));
}

#[test]
fn texts_that_end_early_are_cut() {
    for text in ["{", r#"{"a"#, r#"{"a":"#, r#"{"a":"b"#, r#"{"a":1,"#, "[1", "\"x", r#"{}{"a":"#] {
        assert_eq!(Arguments::read(text), Arguments::Cut, "{text:?}");
    }
}

#[test]
fn deep_and_large_texts_are_bounded() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    whole(&deep, Value::String(deep.clone()));
    let large = "ä".repeat(RAW_LIMIT);
    let Arguments::Whole(Value::String(kept)) = Arguments::read(&large) else {
        panic!("text stays text");
    };
    assert_eq!(kept.len(), RAW_LIMIT);
    let spaced = format!("{{\"a\":\"{}\"}}", "x".repeat(10 * 1024 * 1024));
    assert!(matches!(Arguments::read(&spaced), Arguments::Whole(Value::Object(_))));
}

fn is_whole(pieces: &[&str]) -> bool {
    let mut balance = Balance::default();
    pieces.iter().for_each(|piece| balance.feed(piece));
    balance.is_whole()
}

#[test]
fn balance_knows_strings_and_escapes() {
    assert!(is_whole(&["{\"a\"", ":1}"]));
    assert!(is_whole(&[r#"{"a":"}\"{"#, r#""}"#]));
    assert!(!is_whole(&["", " "]));
    assert!(!is_whole(&[r#"{"a":"}"#]));
    assert!(!is_whole(&[r#"{"a":"\"}"#]));
}

proptest! {
    #[test]
    fn no_beginning_of_an_object_is_taken_for_arguments(
        text in "[a-zäö\"\\\\{}\\[\\]:, ]{0,12}",
        number in any::<i32>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let object = json!({"text": text, "list": [number, null, {"deep": true}]}).to_string();
        let boundary = object.floor_char_boundary(1 + cut.index(object.len() - 1));
        prop_assert_eq!(Arguments::read(&object[..boundary]), Arguments::Cut);
        prop_assert!(!is_whole(&[&object[..boundary]]));
        prop_assert!(is_whole(&[&object]));
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        Arguments::read(&text);
        is_whole(&[&text]);
    }
}
