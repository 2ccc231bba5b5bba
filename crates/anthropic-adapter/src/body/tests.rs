//! How messages become turns, where the cache may end, and that old messages are not written again.

use std::cell::Cell;

use bytes::Bytes;
use proptest::prelude::*;
use runtime_ports::{ModelContent, ModelMessage, ModelRole, ModelToolDefinition, Transcript};
use serde_json::{Value, json};

use super::{Keys, Marks, Turns, tools};
use crate::encode::{Replay, piece};

fn message(role: ModelRole, text: &str) -> ModelMessage {
    ModelMessage::text(role, text)
}

fn result(id: &str) -> ModelMessage {
    let (tool_use_id, name) = (id.into(), "f".into());
    let content =
        ModelContent::ToolResult { tool_use_id, name, content: "r".into(), failed: false };
    ModelMessage { role: ModelRole::Tool, content: vec![content] }
}

fn turns(messages: &[ModelMessage]) -> Turns {
    Turns::of(&Transcript::from(messages.to_vec()), &Keys::of("me"), "me", 0)
}

fn body(messages: &[ModelMessage], marks: Marks) -> Value {
    let bytes = turns(messages).body("m", &[("max_tokens", json!(9))], None, marks);
    serde_json::from_slice(&bytes).expect("a body is json")
}

/// Turns in short: `u` or `a`, then the texts, `=` for a result, `*` for a mark.
fn short(messages: &[ModelMessage], marks: Marks) -> String {
    let body = body(messages, marks);
    let turns = body["messages"].as_array().expect("turns").iter().map(|turn| {
        let blocks = turn["content"].as_array().expect("blocks").iter().map(block);
        let role = turn["role"].as_str().expect("a role");
        format!("{}({})", &role[..1], blocks.collect::<Vec<_>>().join(" "))
    });
    turns.collect::<Vec<_>>().join(" ")
}

fn block(block: &Value) -> String {
    let text = block["text"].as_str().unwrap_or("=");
    format!("{text}{}", if block["cache_control"].is_null() { "" } else { "*" })
}

use ModelRole::{Assistant, System, Tool, User};

#[test]
fn turns_alternate_and_results_stand_first() {
    let cases: [(&[ModelMessage], &str); 6] = [
        (&[message(User, "a"), message(User, "b"), message(Assistant, "c")], "u(a b) a(c)"),
        (&[message(User, "-"), message(Assistant, "a"), message(Assistant, "b")], "u(-) a(a b)"),
        (
            &[message(Assistant, "a"), message(User, ""), message(Assistant, "b")],
            "u((the conversation began earlier)) a(a b)",
        ),
        (
            &[
                message(User, "-"),
                message(Assistant, "a"),
                result("x"),
                result("y"),
                message(User, "b"),
            ],
            "u(-) a(a) u(= = b)",
        ),
        (
            &[message(User, "-"), message(Assistant, "a"), message(User, "b"), result("x")],
            "u(-) a(a) u(= b)",
        ),
        (
            &[
                message(User, "a"),
                message(Assistant, "b"),
                message(System, "c"),
                message(User, "d"),
            ],
            "u(a) a(b) u(<system_message>\nc\n</system_message> d)",
        ),
    ];
    for (messages, expected) in cases {
        assert_eq!(short(messages, Marks::Left), expected);
    }
    assert!(turns(&[message(System, "a"), message(User, " ")]).is_empty());
}

#[test]
fn system_messages_at_the_front_are_the_system_text() {
    let spoken =
        [message(System, "a"), message(System, ""), message(System, "b"), message(User, "c")];
    let plain = body(&spoken, Marks::Left);
    assert_eq!(
        plain["system"],
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    );
    assert_eq!(body(&spoken[3..], Marks::Set)["system"], Value::Null);
    assert_eq!(plain["model"], "m");
    assert_eq!(plain["max_tokens"], 9);
    let marked = body(&spoken, Marks::Set);
    assert_eq!(marked["system"][1]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(marked["system"][0]["cache_control"], Value::Null);
    let source = runtime_ports::ImageSource::Url { url: "https://x".into() };
    let picture = ModelMessage { role: System, content: vec![ModelContent::Image { source }] };
    let shown = body(&[message(System, "a"), picture], Marks::Left);
    assert_eq!(shown["system"].as_array().map(Vec::len), Some(1));
    assert_eq!(shown["messages"][0]["content"][0]["type"], "image", "system text is text only");
}

#[test]
fn the_last_two_turns_of_the_user_are_marked() {
    let history = [
        message(User, "a"),
        message(Assistant, "b"),
        message(User, "c"),
        message(User, "d"),
        message(Assistant, "e"),
        result("x"),
        result("y"),
    ];
    assert_eq!(short(&history, Marks::Set), "u(a) a(b) u(c d*) a(e) u(= =*)");
    assert_eq!(short(&history[..4], Marks::Set), "u(a*) a(b) u(c d*)");
    assert_eq!(short(&history[..2], Marks::Set), "u(a*) a(b)");
    assert_eq!(short(&history[..1], Marks::Set), "u(a*)");
    assert_eq!(short(&history, Marks::Left), "u(a) a(b) u(c d) a(e) u(= =)");
}

#[test]
fn there_are_never_more_than_four_marks() {
    let mut history = vec![message(System, "s"), message(System, "t")];
    for _ in 0..6 {
        history.extend([
            message(User, "a"),
            message(Assistant, "b"),
            result("x"),
            message(Assistant, "c"),
        ]);
    }
    let tool = |name: &str| ModelToolDefinition {
        name: name.into(),
        description: "d".into(),
        input_schema: json!({"type": "object"}),
    };
    let list = tools(&[tool("f"), tool("g")], Marks::Set);
    let expected = json!([
        {"name": "f", "description": "d", "input_schema": {"type": "object"}},
        {"name": "g", "description": "d", "input_schema": {"type": "object"},
            "cache_control": {"type": "ephemeral"}},
    ]);
    assert_eq!(list, expected);
    let mut silent = tool("f");
    silent.description.clear();
    let expected = json!([{"name": "f", "input_schema": {"type": "object"}}]);
    assert_eq!(tools(&[silent], Marks::Left), expected, "no empty description");
    let tools = Bytes::from(list.to_string());
    let bytes = turns(&history).body("m", &[], Some(&tools), Marks::Set);
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    assert_eq!(text.matches("cache_control").count(), 4);
    assert!(serde_json::from_str::<Value>(&text).is_ok());
}

#[test]
fn a_message_is_written_once_for_a_session() {
    let written = Cell::new(0);
    let counting = |message: &ModelMessage, replay: Replay<'_>| {
        written.set(written.get() + 1);
        piece(message, replay)
    };
    let keys = Keys::of("me");
    let mut history = Transcript::from(vec![message(User, "a"); 40]);
    drop(Turns::written_by(&history, &keys, ("me", 0), &counting));
    for _ in 0..10 {
        history.push(message(Assistant, "b"));
        history.push(message(User, "c"));
        drop(Turns::written_by(&history, &keys, ("me", 0), &counting));
    }
    assert_eq!(written.get(), 60);
    drop(Turns::written_by(&history, &Keys::of("you"), ("you", 0), &counting));
    assert_eq!(written.get(), 120, "another session writes its own");
    for _ in 0..3 {
        drop(Turns::written_by(&history, &Keys::of("you"), ("you", 45), &counting));
    }
    assert_eq!(written.get(), 123, "three of the model's own within the first 45, once");
}

#[test]
fn reasoning_is_left_out_of_the_first_messages_only() {
    let thought = |text: &str| {
        let opaque = json!({"type": "thinking", "thinking": text, "signature": "s"});
        let reasoning = ModelContent::Reasoning { issuer: "me".into(), text: text.into(), opaque };
        ModelMessage { role: Assistant, content: vec![reasoning, ModelContent::text("said")] }
    };
    let history = [message(User, "a"), thought("one"), message(User, "b"), thought("two")];
    let sent = |bare: usize| {
        let history = Transcript::from(history.to_vec());
        let turns = Turns::of(&history, &Keys::of("me"), "me", bare);
        String::from_utf8(turns.body("m", &[], None, Marks::Left).to_vec()).expect("text")
    };
    let seen = |bare: usize| (sent(bare).contains("one"), sent(bare).contains("two"));
    assert_eq!(seen(0), (true, true));
    assert_eq!(seen(1), (true, true));
    assert_eq!(seen(2), (false, true));
    assert_eq!(seen(4), (false, false));
}

/// The body without the marks of the cache, up to the end of its messages.
fn prefix(messages: &[ModelMessage]) -> String {
    let bytes = turns(messages).body("m", &[("max_tokens", json!(9))], None, Marks::Set);
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    let text = text.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    text.trim_end_matches([']', '}']).to_owned()
}

/// Rounds as the kernel makes them: a question, then answers with calls, each with its results.
fn rounds() -> impl Strategy<Value = Vec<Vec<ModelMessage>>> {
    let round = (0usize..3, any::<bool>()).prop_map(|(calls, asks)| {
        let ids: Vec<String> = (0..calls).map(|at| format!("call-{at}")).collect();
        let used = ids.iter().map(|id| ModelContent::ToolUse {
            id: id.clone(),
            name: "f".into(),
            arguments: json!({}),
        });
        let content = [ModelContent::text("answer")].into_iter().chain(used).collect();
        let mut round = vec![ModelMessage { role: Assistant, content }];
        round.extend(ids.iter().map(|id| result(id)));
        if asks || calls == 0 {
            round.push(message(User, "and"));
        }
        round
    });
    proptest::collection::vec(round, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_request_begins_with_the_one_before(rounds in rounds()) {
        let mut history = vec![message(System, "be brief"), message(User, "question")];
        let mut before = prefix(&history);
        for round in rounds {
            history.extend(round);
            let now = prefix(&history);
            prop_assert!(now.starts_with(&before), "{now}\nafter\n{before}");
            before = now;
        }
    }

    #[test]
    fn turns_always_alternate(roles in proptest::collection::vec(0u8..5, 0..20)) {
        let messages: Vec<ModelMessage> = roles
            .iter()
            .map(|role| match role {
                0 => message(User, "u"),
                1 => message(Assistant, "a"),
                2 => message(Tool, ""),
                3 => message(System, "s"),
                _ => result("x"),
            })
            .collect();
        let body = body(&messages, Marks::Set);
        let turns = body["messages"].as_array().expect("turns");
        for pair in turns.windows(2) {
            prop_assert_ne!(&pair[0]["role"], &pair[1]["role"]);
        }
        for turn in turns {
            let blocks = turn["content"].as_array().expect("blocks");
            prop_assert!(!blocks.is_empty());
            let kinds: Vec<bool> = blocks.iter().map(|block| block["type"] == "tool_result").collect();
            prop_assert!(kinds.is_sorted_by(|left, right| left >= right), "results stand first");
        }
    }
}
