//! What is read as JSON, and what of it is repaired.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{NoJson, read};

fn check(text: &[u8], expected: Result<Value, NoJson>) {
    assert_eq!(read(text), expected, "{}", String::from_utf8_lossy(text));
}

#[test]
fn halves_of_characters_are_replaced_and_nothing_else() {
    check(br#"{"a":"\ud83d\ude00"}"#, Ok(json!({"a": "😀"})));
    check(br#"{"a":"x\ud83dy"}"#, Ok(json!({"a": "x\u{fffd}y"})));
    check(br#"{"a":"\ude00"}"#, Ok(json!({"a": "\u{fffd}"})));
    check(br#"{"a":"\ud83d\ud83d\ude00"}"#, Ok(json!({"a": "\u{fffd}😀"})));
    check(br#"{"a":"\\ud83d","b":"\ud83d"}"#, Ok(json!({"a": "\\ud83d", "b": "\u{fffd}"})));
    check(b"{\"a\":\"\xf0\x9f\x98\"}", Ok(json!({"a": "\u{fffd}"})));
}

#[test]
fn numbers_that_no_value_holds_are_null_and_nothing_else() {
    check(br#"{"a":1e400,"b":[-1E+999,2]}"#, Ok(json!({"a": null, "b": [null, 2]})));
    check(br#"{"a":NaN,"b":-Infinity}"#, Ok(json!({"a": null, "b": null})));
    check(
        br#"{"NaN":Infinity,"b":"\\\"NaN, 1e400"}"#,
        Ok(json!({"NaN": null, "b": "\\\"NaN, 1e400"})),
    );
    check(br#"{"a":1e400,"b":"\ud83d"}"#, Ok(json!({"a": null, "b": "\u{fffd}"})));
    check(br#"{"a":NaN"#, Err(NoJson::Cut));
    check(br#"{"a":nan}"#, Err(NoJson::Malformed));
    check("{\"ä\":1e999}".as_bytes(), Ok(json!({"ä": null})));
}

#[test]
fn the_rest_is_told_apart() {
    check(b"{\"a\":", Err(NoJson::Cut));
    check(b"{\"a\":\"\\ud83d", Err(NoJson::Cut));
    check(b"{a}", Err(NoJson::Malformed));
    check(b"<html>", Err(NoJson::Malformed));
    check("[".repeat(10_000).as_bytes(), Err(NoJson::Malformed));
}

proptest! {
    #[test]
    fn anything_is_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = read(&bytes);
    }

    #[test]
    fn escapes_are_read_without_a_panic(text in "[\\\\ud8ce0-9\"ä]{0,24}") {
        let _ = read(format!("\"{text}\"").as_bytes());
    }
}
