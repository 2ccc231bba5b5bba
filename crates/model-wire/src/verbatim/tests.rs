//! Which values are taken as text, and that nothing else changes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Place, Verbatim};

const PLACES: &[Place] = &[
    Place::at(&["calls", "*", "arguments"]),
    Place::at(&["calls", "*", "id"]),
    Place::at(&["item", "arguments"]).beside("type", "call"),
];

fn check(frame: &str, expected: Option<&str>) {
    let text = Verbatim::new(PLACES).with_texts(frame.as_bytes());
    let text = text.map(|text| String::from_utf8(text).expect("utf-8"));
    assert_eq!(text.as_deref(), expected, "{frame}");
}

#[test]
fn what_stands_at_a_place_becomes_its_text() {
    check(
        r#"{"calls":[{"arguments":{"a": 1e400}},{"id":12345678901234567890123}]}"#,
        Some(r#"{"calls":[{"arguments":"{\"a\": 1e400}"},{"id":"12345678901234567890123"}]}"#),
    );
    check(r#"[ {"calls" : [ {"arguments" : [1,"]"] } ]}]"#, {
        Some(r#"[ {"calls" : [ {"arguments" : "[1,\"]\"]" } ]}]"#)
    });
    check(r#"{"calls":[{"arguments":{"a":"\"}"},"x":1}]}"#, {
        Some(r#"{"calls":[{"arguments":"{\"a\":\"\\\"}\"}","x":1}]}"#)
    });
}

#[test]
fn half_of_a_character_in_a_text_at_a_place_is_an_escape_of_what_the_text_holds() {
    let cases: [(&[u8], &str); 4] = [
        (
            br#"{"calls":[{"arguments":"a\ud83d"}],"text":"\ud83d"}"#,
            r#"{"calls":[{"arguments":"a\\ud83d"}],"text":"\ud83d"}"#,
        ),
        (
            b"{\"calls\":[{\"arguments\":\"\xe2\x82\"}]}",
            r#"{"calls":[{"arguments":"\\udce2\\udc82"}]}"#,
        ),
        (
            br#"{"calls":[{"arguments":"\ud83d\ude00\\ud83d"}]}"#,
            r#"{"calls":[{"arguments":"\ud83d\ude00\\ud83d"}]}"#,
        ),
        (br#"{"calls":[{"arguments":{}"#, r#"{"calls":[{"arguments":{}"#),
    ];
    for (frame, expected) in cases {
        let whole = Verbatim::new(PLACES).with_halves(frame).into_owned();
        assert_eq!(String::from_utf8(whole).expect("utf-8"), expected);
    }
}

#[test]
fn texts_words_and_other_places_stay() {
    for frame in [
        r#"{"calls":[{"arguments":"{}","id":"a"}]}"#,
        r#"{"calls":[{"arguments":null,"id":true}]}"#,
        r#"{"arguments":{},"other":[{"arguments":{}}],"calls":{"arguments":{}}}"#,
        r#"{"calls":[[{"arguments":{}}]],"text":"\"arguments\":{}"}"#,
        r#"{"item":{"arguments":{}}}"#,
        r#"{"item":{"arguments":{},"type":"other"}}"#,
    ] {
        check(frame, None);
    }
}

#[test]
fn what_must_stand_beside_may_come_before_or_behind() {
    check(r#"{"item":{"type":"call","arguments":{}}}"#, {
        Some(r#"{"item":{"type":"call","arguments":"{}"}}"#)
    });
    check(r#"{"item":{"arguments":{},"type":"call"}}"#, {
        Some(r#"{"item":{"arguments":"{}","type":"call"}}"#)
    });
}

#[test]
fn what_is_no_json_stays() {
    for frame in [
        r#"{"calls":[{"arguments":{"a":1"#,
        r#"{"calls":[{"arguments":{}}]"#,
        r#"{"calls" [{"arguments":{}}]}"#,
        r#"{"calls":[{"arguments":{]}}"#,
        r#"{"calls":[{"arguments":"#,
        r#"{"item":{"arguments":{},"\"#,
    ] {
        check(frame, None);
    }
}

#[test]
fn depth_costs_no_stack() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let frame = format!(r#"{{"calls":[{{"arguments":{deep}}}]}}"#);
    let text = format!(r#"{{"calls":[{{"arguments":"{deep}"}}]}}"#);
    check(&frame, Some(&text));
}

proptest! {
    #[test]
    fn the_text_says_what_was_there(number in any::<i64>(), text in any::<String>(), spaced: bool) {
        let arguments = json!({"n": number, "t": text, "l": [text.clone(), {"arguments": {}}]});
        let frame = json!({"text": text, "calls": [{"x": 1, "arguments": arguments}]});
        let frame = match spaced {
            true => serde_json::to_string_pretty(&frame).expect("json"),
            false => frame.to_string(),
        };
        let told = Verbatim::new(PLACES).with_texts(frame.as_bytes()).expect("a place");
        let mut told: Value = serde_json::from_slice(&told).expect("json");
        let place = &mut told["calls"][0]["arguments"];
        let read: Value = serde_json::from_str(place.as_str().expect("a text")).expect("json");
        prop_assert_eq!(&read, &arguments);
        *place = read;
        let frame: Value = serde_json::from_str(&frame).expect("json");
        prop_assert_eq!(told, frame);
    }

    #[test]
    fn anything_is_walked_without_a_panic(text in "[{}\\[\\]\":,\\\\ -9a-z]{0,40}") {
        let _ = Verbatim::new(PLACES)
            .with_texts(format!("{{\"calls\":[{{\"arguments\":{{{text}").as_bytes());
    }
}
