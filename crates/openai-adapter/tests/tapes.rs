//! Recorded conversations: each is recorded anew against a scripted server, and the one that is kept
//! is replayed to the same outcome, by a session with other identities.
//!
//! `BLESS_TAPES=1 cargo test -p openai-adapter --test tapes` keeps what was recorded.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use openai_adapter::{Api, OpenAiSession, Recorder, Replay, Tape, Timeouts};
use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole, ModelSession,
    ModelToolDefinition, PortFailure, ToolSet, Transcript,
};
use runtime_types::CredentialHandle;
use serde_json::json;
use wire_rehearsal::{
    asking::operation,
    loopback::{Act, LAST_CHUNK, Loopback, chunk, events, json as document, stream, stream_head},
};

/// The address in tapes that are kept.
const KEPT: &str = "http://127.0.0.1:9/v1";
const KEY: &str = "sk-canary-5f1c";

#[derive(Clone)]
struct Conversation {
    name: &'static str,
    api: Api,
    replies: Vec<Vec<Act>>,
    expected: &'static str,
}

const FINISHED: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
const PONG: &str = r#"{"choices":[{"index":0,"delta":{"content":"pöng"},"finish_reason":"stop"}]}"#;
const REFUSAL: &str =
    r#"{"error":{"message":"Unknown parameter: 'stream_options'","code":"unknown"}}"#;

fn conversations() -> Vec<Conversation> {
    [in_chat().as_slice(), &[in_responses()]].concat()
}

fn in_chat() -> [Conversation; 4] {
    let call = json!({ "index": 0, "function": { "name": "ping", "arguments": "{}" } });
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
    let first = || stream(&events(&[&call.to_string(), FINISHED, USAGE, "[DONE]"]));
    let answer = || stream(&events(&[PONG, USAGE, "[DONE]"]));
    let in_pieces = vec![
        Act::Send(stream_head(&[("x-request-id", KEY)])),
        Act::Trickle(chunk(&events(&[PONG, "[DONE]"])), 3),
        Act::Send(LAST_CHUNK.to_vec()),
    ];
    let cut = vec![Act::Send(stream_head(&[])), Act::Send(chunk(b"data: {\"cho")), Act::Close];
    let conversation = |name, replies, expected| {
        let api = Api::Chat;
        Conversation { name, api, replies, expected }
    };
    let pong = "ToolCalls ping{} | Stop \"pöng\"";
    let refused = vec![document("400 Bad", REFUSAL), first(), answer()];
    [
        conversation("chat-calls-without-ids", vec![first(), answer()], pong),
        conversation("chat-in-small-pieces", vec![first(), in_pieces], pong),
        conversation("chat-refused-feature", refused, "ToolCalls ping{} after 2 | Stop \"pöng\""),
        conversation("chat-cut", vec![first(), cut], "ToolCalls ping{} | Protocol CONNECTION_LOST"),
    ]
}

fn in_responses() -> Conversation {
    let item = json!({
        "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ping",
        "arguments": "{}",
    });
    let done = json!({ "type": "response.output_item.done", "output_index": 0, "item": item });
    let completed = |output: serde_json::Value| {
        let usage = json!({ "input_tokens": 3, "output_tokens": 1 });
        let response = json!({
            "id": "resp_1", "status": "completed", "output": output, "usage": usage
        });
        json!({ "type": "response.completed", "response": response }).to_string()
    };
    let message = json!({
        "type": "message", "role": "assistant",
        "content": [{ "type": "output_text", "text": "pong" }],
    });
    Conversation {
        name: "responses-calls",
        api: Api::Responses,
        replies: vec![
            stream(&events(&[done.to_string(), completed(json!([item]))])),
            stream(&events(&[completed(json!([message]))])),
        ],
        expected: "ToolCalls ping{} | Stop \"pong\"",
    }
}

fn session(base_url: &str, api: Api, tape: Tape) -> OpenAiSession {
    let short = Duration::from_secs(2);
    let timeouts = Timeouts { connect: short, head: short, idle: short, tail: short };
    let builder = OpenAiSession::builder(base_url).api(api).timeouts(timeouts).tape(tape.clone());
    let builder = match tape {
        Tape::Replay(_) => builder,
        _ => builder.credential(CredentialHandle::new(KEY)),
    };
    builder.build().expect("a session")
}

async fn ask(
    session: &OpenAiSession,
    seed: &str,
    messages: &[ModelMessage],
) -> Result<ModelResponse, PortFailure> {
    let ping = ModelToolDefinition {
        name: "ping".to_owned(),
        description: "answers pong".to_owned(),
        input_schema: json!({ "type": "object", "properties": {} }),
    };
    let request = ModelRequest {
        invocation_id: format!("{seed}-{}", messages.len()).into(),
        model: "m".into(),
        messages: Transcript::from(messages.to_vec()),
        tools: ToolSet::new(vec![ping]),
        max_output_tokens: Some(64),
        options: Arc::default(),
    };
    session.invoke(&operation(Duration::from_secs(20)), request).await
}

/// Two requests: a task, and the results of the calls.
async fn converse(session: &OpenAiSession, seed: &str) -> String {
    let mut messages = vec![ModelMessage::text(ModelRole::User, format!("call ping; {KEY}"))];
    let first = match ask(session, seed, &messages).await {
        Ok(first) => first,
        Err(failure) => return format!("{:?} {}", failure.kind, failure.code),
    };
    let results = first.output.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, .. } => Some(ModelContent::ToolResult {
            tool_use_id: id.clone(),
            name: name.clone(),
            content: format!("pong of {id}"),
            failed: false,
        }),
        _ => None,
    });
    let results: Vec<_> = results.collect();
    let said = line(&first);
    messages.push(ModelMessage { role: ModelRole::Assistant, content: first.output });
    messages.push(ModelMessage { role: ModelRole::Tool, content: results });
    match ask(session, seed, &messages).await {
        Ok(second) => format!("{said} | {}", line(&second)),
        Err(failure) => format!("{said} | {:?} {}", failure.kind, failure.code),
    }
}

fn line(response: &ModelResponse) -> String {
    let pieces = response.output.iter().map(|content| match content {
        ModelContent::Text { text } => format!("{text:?}"),
        ModelContent::ToolUse { name, arguments, .. } => format!("{name}{arguments}"),
        other => format!("{other:?}"),
    });
    let pieces: Vec<String> = pieces.collect();
    let after = match response.attempts.len() {
        1 => String::new(),
        count => format!(" after {count}"),
    };
    format!("{:?} {}{after}", response.finish, pieces.join(" "))
}

fn kept(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tapes");
    PathBuf::from(folder).join(format!("{name}.jsonl"))
}

async fn recorded(conversation: &Conversation) -> String {
    let server = Loopback::start(conversation.replies.clone()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tape.jsonl");
    let recorder = Recorder::create(&path).expect("a tape");
    let live = session(&server.base_url(), conversation.api, Tape::Record(Arc::clone(&recorder)));
    assert_eq!(converse(&live, "first").await, conversation.expected, "{}", conversation.name);
    recorder.settled().await.expect("all is written");
    let text = fs::read_to_string(&path).expect("a tape");
    text.replace(&server.base_url(), KEPT)
}

async fn replayed(conversation: &Conversation, text: &str, seed: &str) {
    let replay = Replay::of_bytes(text.as_bytes()).expect("a good tape");
    let again = session(KEPT, conversation.api, Tape::Replay(Arc::clone(&replay)));
    let outcome = converse(&again, seed).await;
    assert_eq!(outcome, conversation.expected, "{} replayed", conversation.name);
    assert!(replay.unused().is_empty(), "{:?}", replay.unused());
}

#[tokio::test]
async fn conversations_are_recorded_and_replayed_to_the_same_outcome() {
    for conversation in conversations() {
        let text = recorded(&conversation).await;
        assert!(!text.contains("canary"), "{text}");
        for seed in ["first", "second"] {
            replayed(&conversation, &text, seed).await;
        }
        if std::env::var_os("BLESS_TAPES").is_some() {
            fs::create_dir_all(kept("x").parent().expect("a folder")).expect("a folder");
            fs::write(kept(conversation.name), text).expect("a tape is kept");
        }
    }
}

#[tokio::test]
async fn tapes_that_are_kept_are_replayed_to_the_same_outcome() {
    for conversation in conversations() {
        let text = fs::read_to_string(kept(conversation.name)).expect(conversation.name);
        replayed(&conversation, &text, "another").await;
    }
}
