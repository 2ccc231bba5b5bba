//! How a body is put together, and that old messages are not written again.

use std::cell::Cell;

use bytes::Bytes;
use runtime_ports::{
    EncodingKey, ModelMessage, ModelRole, ModelToolDefinition, ToolSet, Transcript,
};
use serde_json::{Value, json};

use super::{Elements, Piece, ToolEncodings, body, elements};

fn message(role: ModelRole, text: &str) -> ModelMessage {
    ModelMessage::text(role, text)
}

/// Writes the first text of a message; one that ends in `+` defers a second element, and an empty
/// one writes nothing.
fn encode(message: &ModelMessage) -> Vec<u8> {
    let mut piece = Piece::default();
    let text = format!("{:?}", message.content);
    if text.contains("written") {
        piece.push(&json!(format!("{:?}", message.role)));
    }
    if text.contains('+') {
        piece.defer(&json!("deferred"));
    }
    piece.into_bytes()
}

fn joined(messages: &[ModelMessage]) -> String {
    let key = EncodingKey::new("test", "x");
    text(&elements(&Transcript::from(messages.to_vec()), &key, encode))
}

fn text(elements: &Elements) -> String {
    let mut bytes = b"[".to_vec();
    elements.write(&mut bytes);
    assert!(bytes.len() <= elements.bytes() + 1, "the estimate of the length is too small");
    String::from_utf8(bytes.split_off(1)).expect("text")
}

#[test]
fn deferred_elements_wait_for_the_end_of_the_results() {
    use ModelRole::{Assistant, Tool, User};
    let written = |role| message(role, "written");
    let pictured = message(Tool, "written+");
    let empty = message(User, "");
    assert_eq!(joined(&[]), "");
    assert_eq!(joined(std::slice::from_ref(&empty)), "");
    assert_eq!(joined(&[empty.clone(), written(User), empty]), r#""User""#);
    let turn = [pictured.clone(), written(Tool), written(Assistant)];
    assert_eq!(joined(&turn), r#""Tool","Tool","deferred","Assistant""#);
    assert_eq!(joined(&[written(User), pictured]), r#""User","Tool","deferred""#);
}

#[test]
fn a_message_is_written_once_for_a_profile() {
    let written = Cell::new(0);
    let counting = |message: &ModelMessage| {
        written.set(written.get() + 1);
        encode(message)
    };
    let mut history = Transcript::from(vec![message(ModelRole::User, "written"); 40]);
    let key = EncodingKey::new("test", "x");
    let first = elements(&history, &key, counting);
    history.push(message(ModelRole::User, "written"));
    let second = elements(&history, &key, counting);
    assert_eq!(written.get(), 41);
    assert!(text(&second).starts_with(&text(&first)));
    elements(&history, &EncodingKey::new("test", "y"), counting);
    assert_eq!(written.get(), 82, "another profile writes its own");
}

#[test]
fn tools_are_written_once_for_each_set() {
    let tool = |name: String| ModelToolDefinition {
        name,
        description: String::new(),
        input_schema: Value::Null,
    };
    let sets: Vec<ToolSet> =
        (0..9).map(|number| ToolSet::new(vec![tool(format!("tool-{number}"))])).collect();
    let encodings = ToolEncodings::default();
    let written = Cell::new(0);
    let count = |set: &ToolSet| {
        encodings.encoding(set, || {
            written.set(written.get() + 1);
            json!([set[0].name])
        })
    };
    assert_eq!(count(&sets[0]), Bytes::from_static(br#"["tool-0"]"#));
    assert_eq!(count(&ToolSet::new(vec![tool("tool-0".into())])), count(&sets[0]));
    assert_eq!(written.get(), 1);
    sets.iter().for_each(|set| drop(count(set)));
    assert_eq!(written.get(), 9);
    count(&sets[0]);
    assert_eq!(written.get(), 10, "the oldest of nine was let go");
}

#[test]
fn a_body_is_one_object() {
    let rest = [("b", Bytes::from_static(b"1")), ("c", Bytes::from_static(b"[2]"))];
    let history = Transcript::from(vec![message(ModelRole::User, "written"); 2]);
    let elements = elements(&history, &EncodingKey::new("test", "x"), encode);
    let bytes = body("a \"model\"", "messages", &elements, &rest);
    let value: Value = serde_json::from_slice(&bytes).expect("json");
    assert_eq!(
        value,
        json!({"model": "a \"model\"", "messages": ["User", "User"], "b": 1, "c": [2]})
    );
}
