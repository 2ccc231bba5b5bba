//! Whose turn each message is, and that an old one is not written again.

use std::cell::Cell;

use proptest::prelude::*;
use runtime_ports::{EncodingKey, ModelContent, ModelMessage, ModelRole, Transcript};
use serde_json::{Map, Value, json};

use super::Contents;
use crate::encode::{Written, piece};

const WRITTEN: Written<'static> = Written { issuer: "me", signed_calls: false, call_ids: true };

fn body(history: &[ModelMessage]) -> Value {
    let history = Transcript::from(history.to_vec());
    let key = WRITTEN.encoding_key();
    let contents = Contents::of(&history, &key, |message| piece(message, &WRITTEN));
    serde_json::from_slice(&contents.body(&[("tools", "[]".into())])).expect("an object")
}

fn says(role: ModelRole, text: &str) -> ModelMessage {
    ModelMessage::text(role, text)
}

fn result(id: &str) -> ModelMessage {
    let result = ModelContent::ToolResult {
        tool_use_id: id.into(),
        name: "f".into(),
        content: id.into(),
        failed: false,
    };
    let content = vec![result, ModelContent::text(format!("beside {id}"))];
    ModelMessage { role: ModelRole::Tool, content }
}

fn user(parts: Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn check(what: &str, history: &[ModelMessage], expected: Value) {
    assert_eq!(body(history), expected, "{what}");
}

#[test]
fn speakers_alternate_and_instructions_stand_apart() {
    use ModelRole::{Assistant, System, User};
    let history = [
        says(System, "be"),
        says(System, "kind"),
        says(User, "one"),
        says(User, "two"),
        says(Assistant, "three"),
        says(Assistant, ""),
        says(Assistant, "four"),
        says(System, "five"),
        says(User, "six"),
    ];
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "be"}, {"text": "kind"}]},
        "contents": [
            user(json!([{"text": "one"}, {"text": "two"}])),
            model(json!([{"text": "three"}, {"text": "four"}])),
            user(json!([{"text": "five"}, {"text": "six"}])),
        ],
        "tools": [],
    });
    check("all roles", &history, expected);
}

#[test]
fn the_person_begins() {
    let opening = user(json!([{"text": "(the conversation began earlier)"}]));
    let expected = json!({"contents": [opening, model(json!([{"text": "hi"}]))], "tools": []});
    check("the model first", &[says(ModelRole::Assistant, "hi")], expected);
    let nothing = says(ModelRole::User, "");
    check("nobody", &[nothing], json!({"contents": [], "tools": []}));
}

#[test]
fn nothing_stands_between_the_results_of_one_turn() {
    let response =
        |id: &str| json!({"functionResponse": {"id": id, "name": "f", "response": {"output": id}}});
    let history = [
        says(ModelRole::User, "go"),
        says(ModelRole::Assistant, "calls"),
        result("a"),
        result("b"),
        says(ModelRole::User, "and?"),
        says(ModelRole::Assistant, "again"),
        result("c"),
    ];
    let beside = |id: &str| json!({"text": format!("beside {id}")});
    let expected = json!({"contents": [
        user(json!([{"text": "go"}])),
        model(json!([{"text": "calls"}])),
        user(json!([response("a"), response("b"), beside("a"), beside("b"), {"text": "and?"}])),
        model(json!([{"text": "again"}])),
        user(json!([response("c"), beside("c")])),
    ], "tools": []});
    check("results", &history, expected);
}

#[test]
fn a_message_is_written_once_for_a_profile() {
    let mut history = Transcript::new();
    let written = Cell::new(0);
    let write = |history: &Transcript, key: &EncodingKey| {
        let before = written.get();
        Contents::of(history, key, |message| {
            written.set(written.get() + 1);
            piece(message, &WRITTEN)
        });
        written.get() - before
    };
    let key = WRITTEN.encoding_key();
    history.push(says(ModelRole::System, "be"));
    for round in 0..50 {
        history.push(says(ModelRole::User, "go"));
        history.push(says(ModelRole::Assistant, "gone"));
        let expected = if round == 0 { 3 } else { 2 };
        assert_eq!(write(&history, &key), expected, "in round {round}");
    }
    let other = Written { signed_calls: true, ..WRITTEN }.encoding_key();
    assert_eq!(write(&history, &other), 101, "for another family");
}

fn content() -> impl Strategy<Value = ModelContent> {
    let text = prop::sample::select(vec!["", "a", "\"}],"]).prop_map(ModelContent::text);
    let call = any::<bool>().prop_map(|is_object| ModelContent::ToolUse {
        id: "x".into(),
        name: "f".into(),
        arguments: if is_object { json!({"p": 1}) } else { json!("{p") },
    });
    let result = any::<bool>().prop_map(|failed| ModelContent::ToolResult {
        tool_use_id: "x".into(),
        name: "f".into(),
        content: "said".into(),
        failed,
    });
    let opaque = prop::sample::select(vec![
        json!(null),
        json!({"on": "text", "thoughtSignature": "s"}),
        json!({"on": "functionCall", "thoughtSignature": "s"}),
        json!({"part": {"executableCode": {}}}),
    ]);
    let reasoning =
        (prop::sample::select(vec!["me", "you"]), opaque).prop_map(|(issuer, opaque)| {
            ModelContent::Reasoning { issuer: issuer.into(), text: "hm".into(), opaque }
        });
    prop_oneof![text, call, result, reasoning]
}

fn message() -> impl Strategy<Value = ModelMessage> {
    use ModelRole::{Assistant, System, Tool, User};
    let role = prop::sample::select(vec![System, User, Assistant, Tool]);
    let content = proptest::collection::vec(content(), 0..4);
    (role, content).prop_map(|(role, content)| ModelMessage { role, content })
}

proptest! {
    #[test]
    fn any_history_becomes_turns_of_two_speakers_without_an_empty_part(
        history in proptest::collection::vec(message(), 0..12)
    ) {
        let body = body(&history);
        let contents = body["contents"].as_array().expect("a list").clone();
        for (at, content) in contents.iter().enumerate() {
            prop_assert_eq!(&content["role"], if at % 2 == 0 { "user" } else { "model" });
            let parts = content["parts"].as_array().expect("a list");
            prop_assert!(!parts.is_empty(), "{}", content);
            for part in parts {
                let is_empty = part.as_object().is_none_or(Map::is_empty) || part["text"] == "";
                prop_assert!(!is_empty, "{}", part);
                let signed = part.get("thoughtSignature").is_none_or(|_| content["role"] == "model");
                prop_assert!(signed, "{}", part);
            }
        }
    }
}
