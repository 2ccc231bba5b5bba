//! Decides how a question is written in Messages.
//!
//! Knows that API as it says itself. Refuses to know what the question is for.

use serde_json::{Value, json};

use super::{Ask, Choice, Manner, RED_PIXEL, Turn, about};

/// The body of the request.
pub(super) fn body(ask: &Ask, model: &str) -> Value {
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for turn in &ask.turns {
        match turn {
            // There is one place for instructions, wherever they stand.
            Turn::System(text) | Turn::Developer(text) => system.push(text_block(text)),
            said => add(&mut messages, said),
        }
    }
    let mut body = json!({
        "model": model,
        "max_tokens": ask.most_tokens,
        "stream": ask.manner != Manner::Whole,
        "messages": messages,
    });
    if !system.is_empty() {
        body["system"] = Value::Array(system);
    }
    if !ask.tools.is_empty() {
        body["tools"] = ask.tools.iter().map(|name| tool(name)).collect();
        match ask.choice {
            Choice::Auto => {}
            Choice::Required => body["tool_choice"] = json!({ "type": "any" }),
            Choice::Named(name) => body["tool_choice"] = json!({ "type": "tool", "name": name }),
        }
    }
    body
}

/// Roles take turns: what one says in a row is one message.
fn add(messages: &mut Vec<Value>, turn: &Turn) {
    if let Turn::Said(message) = turn {
        return messages.push(message.clone());
    }
    let role = if matches!(turn, Turn::Calls(_)) { "assistant" } else { "user" };
    let more = blocks(turn);
    let last = messages.last_mut().filter(|last| last["role"] == role);
    match last.and_then(|last| last["content"].as_array_mut()) {
        Some(content) => content.extend(more),
        None => messages.push(json!({ "role": role, "content": more })),
    }
}

fn blocks(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::System(text) | Turn::Developer(text) => vec![text_block(text)],
        Turn::User(text) => vec![text_block(text)],
        Turn::Image(text) => vec![picture(), text_block(text)],
        Turn::Calls(calls) => calls.iter().map(call).collect(),
        Turn::Result(id, text) => vec![result(id, json!(text))],
        Turn::Picture(id, text) => vec![result(id, json!([text_block(text), picture()]))],
        Turn::Said(message) => vec![message.clone()],
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn picture() -> Value {
    let source = json!({ "type": "base64", "media_type": "image/png", "data": RED_PIXEL });
    json!({ "type": "image", "source": source })
}

fn call((id, name, arguments): &(String, String, String)) -> Value {
    let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

fn result(id: &str, content: Value) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": content })
}

fn tool(name: &str) -> Value {
    let (description, schema) = about(name);
    json!({ "name": name, "description": description, "input_schema": schema })
}
