//! Which frames are plain, and that they say the same as when they are not.

use serde_json::{Value, json};

use super::text_of;
use crate::{
    profile::Api,
    rehearsal::{events, play},
};

fn frame(content: &str) -> Value {
    json!({
        "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "usage": null,
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": null}],
    })
}

#[test]
fn only_frames_of_text_alone_are_plain() {
    assert_eq!(text_of(&frame("hi")), Some("hi"));
    let with = |pointer: &str, name: &str, value: Value| {
        let mut frame = frame("hi");
        frame.pointer_mut(pointer).expect("a place")[name] = value;
        frame
    };
    let role = with("/choices/0/delta", "role", json!("assistant"));
    assert_eq!(text_of(&role), Some("hi"));
    for (pointer, name, value) in [
        ("", "usage", json!({"prompt_tokens": 1})),
        ("", "error", json!("failed")),
        ("", "object", json!("error")),
        ("", "x_groq", json!({})),
        ("/choices/0", "finish_reason", json!("stop")),
        ("/choices/0", "index", json!(1)),
        ("/choices/0", "message", json!({})),
        ("/choices/0", "error", json!({"code": 500})),
        ("/choices/0/delta", "content", json!(["hi"])),
        ("/choices/0/delta", "reasoning", json!("hm")),
        ("/choices/0/delta", "tool_calls", json!([])),
    ] {
        assert_eq!(text_of(&with(pointer, name, value)), None, "{pointer}/{name}");
    }
    assert_eq!(text_of(&json!({"choices": []})), None);
    assert_eq!(text_of(&json!([])), None);
}

#[test]
fn a_plain_frame_says_what_it_says_beside_an_unknown_field() {
    let finish = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let plain = frame("hi").to_string();
    let mut other = frame("hi");
    other["unknown"] = json!(1);
    let other = other.to_string();
    let played = |frames: &[&str]| {
        let bytes = events(frames);
        play(Api::Chat, &bytes, usize::MAX)
    };
    let outcome = played(&[&plain, &plain, &plain, finish]);
    assert_eq!(outcome.outcome, r#"Stop: "hihihi""#);
    assert_eq!(played(&[&other, &other, &other, finish]), outcome);
    assert_eq!(
        played(&[&plain, &other, finish, &plain]),
        played(&[&other, &other, finish, &other])
    );
}
