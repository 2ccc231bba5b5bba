//! Decides how the server that is examined writes Messages and generateContent.
//!
//! Knows both as bytes. Refuses to know what was asked.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::server::{Said, document, endless, id, stream};

/// One of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vendor {
    Messages,
    Gemini,
    /// As one document, which the path says.
    GeminiWhole,
}

/// The API of a request, if it is one of the two.
pub(super) fn of(head: &str) -> Option<Vendor> {
    let line = head.lines().next().unwrap();
    [
        ("/messages", Vendor::Messages),
        (":streamGenerateContent?alt=sse", Vendor::Gemini),
        (":generateContent", Vendor::GeminiWhole),
    ]
    .into_iter()
    .find_map(|(path, api)| line.contains(path).then_some(api))
}

pub(super) fn answer(
    connection: &mut TcpStream,
    api: Vendor,
    body: &Value,
    said: &Said,
    usage: Option<u64>,
) -> bool {
    match api {
        Vendor::Messages if body["stream"] == true => messages(connection, said, usage),
        Vendor::Messages => whole(connection, &message(said, usage)),
        Vendor::Gemini => gemini(connection, said, usage),
        Vendor::GeminiWhole => whole(connection, &content(said, usage)),
    }
}

fn whole(connection: &mut TcpStream, value: &Value) -> bool {
    document(connection, 200, "application/json", &value.to_string())
}

fn blocks(said: &Said) -> (Vec<Value>, &'static str) {
    match said {
        Said::Endless => (vec![json!({ "type": "text", "text": "one" })], "end_turn"),
        Said::Text(text, finish) => {
            let reason = if *finish == "length" { "max_tokens" } else { "end_turn" };
            (vec![json!({ "type": "text", "text": text })], reason)
        }
        Said::Calls(calls) => {
            let calls = calls.iter().enumerate().map(|(place, (name, input))| {
                json!({ "type": "tool_use", "id": id(place), "name": name, "input": input })
            });
            (calls.collect(), "tool_use")
        }
    }
}

fn counts(usage: Option<u64>) -> Value {
    let zero = json!({ "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0 });
    usage.map_or(json!({}), |count| {
        let mut counts = zero;
        counts["input_tokens"] = json!(count);
        counts["output_tokens"] = json!(5);
        counts
    })
}

fn message(said: &Said, usage: Option<u64>) -> Value {
    let (content, reason) = blocks(said);
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": content, "stop_reason": reason, "usage": counts(usage),
    })
}

fn messages(connection: &mut TcpStream, said: &Said, usage: Option<u64>) -> bool {
    let event = |name: &str, mut value: Value| {
        value["type"] = json!(name);
        format!("event: {name}\ndata: {value}\n\n")
    };
    let mut begun = message(said, usage);
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut frames = event("message_start", json!({ "message": begun }));
    let (blocks, reason) = blocks(said);
    for (index, block) in blocks.iter().enumerate() {
        let is_text = block["type"] == "text";
        let mut empty = block.clone();
        empty[if is_text { "text" } else { "input" }] = if is_text { json!("") } else { json!({}) };
        let start = json!({ "index": index, "content_block": empty });
        frames += &event("content_block_start", start);
        let delta = match is_text {
            true => json!({ "type": "text_delta", "text": block["text"] }),
            false => {
                json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
            }
        };
        let delta = event("content_block_delta", json!({ "index": index, "delta": delta }));
        if matches!(said, Said::Endless) {
            return endless(connection, &(frames + &delta));
        }
        frames += &delta;
        frames += &event("content_block_stop", json!({ "index": index }));
    }
    let last = json!({ "delta": { "stop_reason": reason }, "usage": counts(usage) });
    frames += &event("message_delta", last);
    stream(connection, &(frames + &event("message_stop", json!({}))))
}

fn content(said: &Said, usage: Option<u64>) -> Value {
    let (parts, reason) = match said {
        Said::Endless => (vec![json!({ "text": "one" })], None),
        Said::Text(text, finish) => {
            let reason = if *finish == "length" { "MAX_TOKENS" } else { "STOP" };
            (vec![json!({ "text": text })], Some(reason))
        }
        Said::Calls(calls) => {
            let call = |(place, (name, args)): (usize, &(&str, Value))| json!({ "functionCall": { "id": id(place), "name": name, "args": args } });
            let mut parts: Vec<Value> = calls.iter().enumerate().map(call).collect();
            parts[0]["thoughtSignature"] = json!("c2lnbmVk");
            (parts, Some("STOP"))
        }
    };
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(reason) = reason {
        candidate["finishReason"] = json!(reason);
    }
    let mut whole = json!({ "candidates": [candidate], "responseId": "r-1" });
    if let Some(count) = usage {
        whole["usageMetadata"] = json!({
            "promptTokenCount": count, "candidatesTokenCount": 5, "totalTokenCount": count + 5,
            "cachedContentTokenCount": 0,
        });
    }
    whole
}

fn gemini(connection: &mut TcpStream, said: &Said, usage: Option<u64>) -> bool {
    let frame = format!("data: {}\n\n", content(said, usage));
    if matches!(said, Said::Endless) {
        return endless(connection, &frame);
    }
    stream(connection, &frame)
}
