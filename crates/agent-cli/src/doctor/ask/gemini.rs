//! Decides how a question is written in generateContent.
//!
//! Knows that API as it says itself. Refuses to know what the question is for.

use serde_json::{Value, json};

use super::{Ask, Choice, RED_PIXEL, Turn, about};

/// The body of the request. Model and manner stand in the path.
pub(super) fn body(ask: &Ask) -> Value {
    let (mut system, mut contents) = (Vec::new(), Vec::new());
    for turn in &ask.turns {
        match turn {
            // There is one place for instructions, wherever they stand.
            Turn::System(text) | Turn::Developer(text) => system.push(json!({ "text": text })),
            said => add(&mut contents, said, &ask.turns),
        }
    }
    let mut body = json!({
        "contents": contents,
        "generationConfig": { "maxOutputTokens": ask.most_tokens },
    });
    if !system.is_empty() {
        body["systemInstruction"] = json!({ "parts": system });
    }
    if !ask.tools.is_empty() {
        let tools: Vec<Value> = ask.tools.iter().map(|name| tool(name)).collect();
        body["tools"] = json!([{ "functionDeclarations": tools }]);
        let config = match ask.choice {
            Choice::Auto => return body,
            Choice::Required => json!({ "mode": "ANY" }),
            Choice::Named(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
        };
        body["toolConfig"] = json!({ "functionCallingConfig": config });
    }
    body
}

/// Roles take turns: what one says in a row is one content.
fn add(contents: &mut Vec<Value>, turn: &Turn, all: &[Turn]) {
    if let Turn::Said(content) = turn {
        return contents.push(content.clone());
    }
    let role = if matches!(turn, Turn::Calls(_)) { "model" } else { "user" };
    let more = parts(turn, all);
    let last = contents.last_mut().filter(|last| last["role"] == role);
    match last.and_then(|last| last["parts"].as_array_mut()) {
        Some(parts) => parts.extend(more),
        None => contents.push(json!({ "role": role, "parts": more })),
    }
}

fn parts(turn: &Turn, all: &[Turn]) -> Vec<Value> {
    match turn {
        Turn::System(text) | Turn::Developer(text) => vec![json!({ "text": text })],
        Turn::User(text) => vec![json!({ "text": text })],
        Turn::Image(text) => vec![picture(), json!({ "text": text })],
        Turn::Calls(calls) => calls.iter().map(call).collect(),
        Turn::Result(id, text) => vec![result(id, text, all)],
        // The API has pictures beside results; not every model has them within.
        Turn::Picture(id, text) => vec![result(id, text, all), picture()],
        Turn::Said(content) => vec![content.clone()],
    }
}

fn picture() -> Value {
    json!({ "inlineData": { "mimeType": "image/png", "data": RED_PIXEL } })
}

fn call((id, name, arguments): &(String, String, String)) -> Value {
    let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
    json!({ "functionCall": { "id": id, "name": name, "args": args } })
}

/// A result names the function as well as the call.
fn result(id: &str, text: &str, all: &[Turn]) -> Value {
    let name = all.iter().find_map(|turn| name_of(turn, id)).unwrap_or_default();
    json!({ "functionResponse": { "id": id, "name": name, "response": { "output": text } } })
}

fn name_of(turn: &Turn, id: &str) -> Option<String> {
    match turn {
        Turn::Calls(calls) => calls.iter().find(|call| call.0 == id).map(|call| call.1.clone()),
        Turn::Said(content) => {
            let mut calls = content["parts"].as_array()?.iter().map(|part| &part["functionCall"]);
            // A call without an id is the only one that a result can be of.
            let known = calls.find(|call| call["id"] == id || call["id"].is_null());
            known?["name"].as_str().map(str::to_owned)
        }
        _ => None,
    }
}

fn tool(name: &str) -> Value {
    let (description, schema) = about(name);
    json!({ "name": name, "description": description, "parametersJsonSchema": schema })
}
