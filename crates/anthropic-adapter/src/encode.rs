//! Decides how one message is written as content blocks.
//!
//! Knows nothing about where it stands, nor about the turns that messages become. Invariant: no
//! block is written that the API refuses wherever it stands: no empty text, no arguments that are
//! no object, no identity of a foreign alphabet, and no reasoning without a signature of its own
//! issuer.

use model_wire::pieces::encoded;
use runtime_ports::{ImageSource, ModelContent, ModelMessage, ModelRole};
use serde_json::{Value, json};

use crate::ids::{call_id, tool_name};

/// The blocks of one message: results of tools, and everything else. Results stand first in their
/// turn, wherever their message stands.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    results: Vec<Value>,
    others: Vec<Value>,
}

/// What of the reasoning in a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replay<'a> {
    /// That of this issuer.
    Of(&'a str),
    /// None: the server has refused it.
    Nothing,
}

/// The blocks of a message as the bytes of an encoding slot: the length of the results, the
/// results, the others; each list with commas in between.
pub(crate) fn piece(message: &ModelMessage, replay: Replay<'_>) -> Vec<u8> {
    let blocks = match message.role {
        ModelRole::Assistant => assistant(message, replay),
        ModelRole::System => late_system(message),
        ModelRole::User | ModelRole::Tool => spoken(message),
    };
    let (results, others) = (list(&blocks.results), list(&blocks.others));
    let length = u64::try_from(results.len()).unwrap_or(u64::MAX);
    [&length.to_be_bytes(), &results[..], &others].concat()
}

/// A system message at the front, as blocks of the `system` field.
pub(crate) fn system_piece(message: &ModelMessage) -> Vec<u8> {
    let texts: Vec<Value> = message.content.iter().filter_map(text_block).collect();
    list(&texts)
}

/// Whether a system message may stand in the `system` field, which takes texts only.
pub(crate) fn is_text(message: &ModelMessage) -> bool {
    message.content.iter().all(|content| matches!(content, ModelContent::Text { .. }))
}

fn list(blocks: &[Value]) -> Vec<u8> {
    blocks.iter().map(encoded).collect::<Vec<_>>().join(&b',')
}

/// Texts, pictures and results. A picture after a result belongs to it, unless the result is a
/// failure: those take text alone.
fn spoken(message: &ModelMessage) -> Blocks {
    let mut blocks = Blocks::default();
    for content in &message.content {
        match content {
            ModelContent::ToolResult { tool_use_id, content, failed, .. } => {
                blocks.results.push(result(tool_use_id, content, *failed));
            }
            ModelContent::Image { source } => match blocks.results.last_mut() {
                Some(result) if result.get("is_error").is_none() => illustrate(result, source),
                _ => blocks.others.push(image(source)),
            },
            ModelContent::Text { .. } => blocks.others.extend(text_block(content)),
            ModelContent::ToolUse { .. } | ModelContent::Reasoning { .. } => {}
        }
    }
    blocks
}

/// What the application says in the middle of a conversation keeps its place there: moved to the
/// front it would void every cached prefix. Most models take no `system` role among the messages.
fn late_system(message: &ModelMessage) -> Blocks {
    let mut blocks = spoken(message);
    let texts = blocks.others.iter().filter_map(|block| block.get("text")?.as_str());
    let text = texts.collect::<Vec<_>>().join("\n\n");
    blocks.others.retain(|block| block.get("text").is_none());
    if !text.is_empty() {
        let text = format!("<system_message>\n{text}\n</system_message>");
        blocks.others.insert(0, json!({"type": "text", "text": text}));
    }
    blocks
}

/// The model's own turn, in its order. Reasoning at its end is left out: a turn may not end with
/// it. White space at its end is too, since a last turn may not end with that.
fn assistant(message: &ModelMessage, replay: Replay<'_>) -> Blocks {
    let blocks = message.content.iter().filter_map(|content| assistant_block(content, replay));
    let mut others: Vec<Value> = blocks.collect();
    while others.last().is_some_and(is_reasoning) {
        others.pop();
    }
    if let Some(Value::String(text)) = others.last_mut().and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
    Blocks { results: Vec::new(), others }
}

fn assistant_block(content: &ModelContent, replay: Replay<'_>) -> Option<Value> {
    match content {
        ModelContent::Text { .. } => text_block(content),
        ModelContent::ToolUse { id, name, arguments } => Some(json!({
            "type": "tool_use",
            "id": call_id(id),
            "name": tool_name(name),
            "input": input(arguments),
        })),
        ModelContent::Reasoning { issuer, opaque, .. } => {
            (replay == Replay::Of(issuer) && goes_back(opaque)).then(|| opaque.clone())
        }
        ModelContent::ToolResult { .. } | ModelContent::Image { .. } => None,
    }
}

/// Whether a block that was kept for its issuer is one that the issuer takes back.
fn goes_back(opaque: &Value) -> bool {
    let has = |name: &str| opaque.get(name).and_then(Value::as_str).is_some_and(|s| !s.is_empty());
    match opaque.get("type").and_then(Value::as_str) {
        Some("thinking") => has("signature"),
        Some("redacted_thinking") => has("data"),
        Some(_) => true,
        None => false,
    }
}

fn is_reasoning(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

/// A text, unless nothing but white space is in it: the API refuses such a block.
fn text_block(content: &ModelContent) -> Option<Value> {
    let ModelContent::Text { text } = content else { return None };
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn result(id: &str, content: &str, failed: bool) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": call_id(id)});
    if !content.trim().is_empty() {
        result["content"] = content.into();
    }
    if failed {
        result["is_error"] = true.into();
    }
    result
}

/// Adds a picture to a result, whose text becomes a block beside it.
fn illustrate(result: &mut Value, source: &ImageSource) {
    let parts = match result["content"].take() {
        Value::Array(parts) => parts,
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        _ => Vec::new(),
    };
    result["content"] = parts.into_iter().chain([image(source)]).collect();
}

fn image(source: &ImageSource) -> Value {
    let source = match source {
        ImageSource::Url { url } => json!({"type": "url", "url": url}),
        ImageSource::Inline { media_type, base64 } => {
            json!({"type": "base64", "media_type": media_type, "data": base64})
        }
    };
    json!({"type": "image", "source": source})
}

/// Arguments as an object. What the model wrote instead of one is wrapped: the API refuses the
/// whole history otherwise.
fn input(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        other => json!({"unparsed_arguments": other}),
    }
}

#[cfg(test)]
mod tests;
