//! Decides how a request is written for Responses.
//!
//! Knows nothing about when a message is written. Invariant: an item that only its issuer can read
//! goes back to that issuer alone, unchanged and in its place; nothing is stored at the provider.

use bytes::Bytes;
use model_wire::pieces::{self, Elements, Piece, encoded};
use runtime_ports::{
    ImageSource, ModelContent, ModelMessage, ModelRequest, ModelRole, ResponseFormat, ToolChoice,
    ToolSet,
};
use serde_json::{Map, Value, json};

use crate::{
    content::{arguments_text, data_url, joined},
    features::Feature,
    profile::{Delivery, Written},
};

/// One message as items of the input.
pub(crate) fn piece(message: &ModelMessage, written: &Written<'_>) -> Vec<u8> {
    let mut piece = Piece::default();
    for content in &message.content {
        if let ModelContent::ToolResult { tool_use_id, content, .. } = content {
            let (kind, id) = ("function_call_output", tool_use_id);
            piece.push(&json!({"type": kind, "call_id": id, "output": content}));
        }
    }
    match message.role {
        ModelRole::Assistant => assistant(message, written, &mut piece),
        ModelRole::System => spoken(message, "system", &mut piece),
        ModelRole::User | ModelRole::Tool => spoken(message, "user", &mut piece),
    }
    piece.into_bytes()
}

fn spoken(message: &ModelMessage, role: &str, piece: &mut Piece) {
    let text = joined(message, "\n\n");
    let images: Vec<Value> = message.content.iter().filter_map(image_part).collect();
    let content = match (text.is_empty(), images.is_empty()) {
        (true, true) => return,
        (false, true) => Value::String(text),
        (_, false) => parts(text, images),
    };
    let item = json!({"type": "message", "role": role, "content": content});
    if message.role == ModelRole::Tool { piece.defer(&item) } else { piece.push(&item) }
}

fn parts(text: String, images: Vec<Value>) -> Value {
    let text = (!text.is_empty()).then(|| json!({"type": "input_text", "text": text}));
    Value::Array(text.into_iter().chain(images).collect())
}

fn image_part(content: &ModelContent) -> Option<Value> {
    let ModelContent::Image { source } = content else { return None };
    let url = match source {
        ImageSource::Url { url } => url.clone(),
        ImageSource::Inline { media_type, base64 } => data_url(media_type, base64),
    };
    Some(json!({"type": "input_image", "detail": "auto", "image_url": url}))
}

/// The model's own turn. With items of its issuer the order is kept, since such an item belongs to
/// the one after it; without, the calls stand last, because some servers split a turn at a text
/// between two calls.
fn assistant(message: &ModelMessage, written: &Written<'_>, piece: &mut Piece) {
    let items: Vec<Value> =
        message.content.iter().filter_map(|content| item(content, written)).collect();
    let is_call = |item: &&Value| item["type"] == "function_call";
    let has_own = message.content.iter().any(|content| written.own_reasoning(content).is_some());
    if has_own {
        followed(&items).for_each(|item| piece.push(item));
    } else {
        items.iter().filter(|item| !is_call(item)).for_each(|item| piece.push(item));
        items.iter().filter(is_call).for_each(|item| piece.push(item));
    }
}

/// The items without reasoning that nothing follows: servers refuse a lone one.
fn followed(items: &[Value]) -> impl Iterator<Item = &Value> {
    let last = items.iter().rposition(|item| item["type"] != "reasoning");
    items.iter().take(last.map_or(0, |last| last + 1))
}

fn item(content: &ModelContent, written: &Written<'_>) -> Option<Value> {
    match content {
        ModelContent::Text { text } if !text.is_empty() => {
            let part = json!({"type": "output_text", "text": text, "annotations": []});
            Some(json!({"type": "message", "role": "assistant", "content": [part]}))
        }
        ModelContent::ToolUse { id, name, arguments } => Some(json!({
            "type": "function_call",
            "call_id": id,
            "name": name,
            "arguments": arguments_text(arguments),
        })),
        ModelContent::Reasoning { .. } => {
            written.own_reasoning(content).filter(|opaque| is_item(opaque)).cloned()
        }
        _ => None,
    }
}

fn is_item(opaque: &Value) -> bool {
    opaque.get("type").is_some_and(Value::is_string)
}

/// The body of a request around its input.
pub(crate) fn body(
    request: &ModelRequest,
    input: &Elements,
    tools: Option<Bytes>,
    written: &Written<'_>,
) -> Bytes {
    let mut rest: Vec<(&str, Bytes)> = Vec::new();
    let mut add = |name, value: &Value| rest.push((name, encoded(value).into()));
    add("store", &false.into());
    if written.features.has(Feature::EncryptedReasoning) {
        add("include", &json!(["reasoning.encrypted_content"]));
    }
    if let Some(limit) = request.max_output_tokens {
        add("max_output_tokens", &limit.into());
    }
    let options = &request.options;
    if let Some(temperature) = options.temperature {
        add("temperature", &temperature.into());
    }
    if let Some(format) = text_format(&options.response_format) {
        add("text", &json!({"format": format}));
    }
    let reasoning = reasoning(options.reasoning_effort.as_deref(), written.reasoning_summary);
    if !reasoning.is_empty() {
        add("reasoning", &Value::Object(reasoning));
    }
    if let Some(choice) = tool_choice(&options.tool_choice).filter(|_| tools.is_some()) {
        add("tool_choice", &choice);
    }
    if written.delivery == Delivery::Streamed {
        add("stream", &true.into());
    }
    rest.extend(tools.map(|tools| ("tools", tools)));
    pieces::body(&request.model, "input", input, &rest)
}

fn reasoning(effort: Option<&str>, summary: Option<&str>) -> Map<String, Value> {
    let fields = [("effort", effort), ("summary", summary)];
    let known =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    known.collect()
}

/// The tools of a request. `strict` is said, because its default would change the schemas.
pub(crate) fn tools(tools: &ToolSet) -> Value {
    let functions = tools.iter().map(|tool| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
            "strict": false,
        })
    });
    functions.collect()
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Named { name } => Some(json!({"type": "function", "name": name})),
    }
}

fn text_format(format: &ResponseFormat) -> Option<Value> {
    match format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(json!({"type": "json_object"})),
        ResponseFormat::JsonSchema { name, schema, strict } => Some(json!({
            "type": "json_schema",
            "name": name,
            "schema": schema,
            "strict": strict,
        })),
    }
}

#[cfg(test)]
mod tests;
