//! Whose turn each message is, and that an old one is not written again.

use std::cell::Cell;

use runtime_ports::{EncodingKey, ModelContent, ModelMessage, ModelRole, Transcript};
use serde_json::{Value, json};

use super::Contents;
use crate::encode::{Written, piece};

const WRITTEN: Written<'static> = Written { issuer: "me", signed_calls: false };

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
