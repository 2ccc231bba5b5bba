//! Decides how a request is written for Chat Completions.
//!
//! Knows nothing about when a message is written. Invariant: reasoning goes back to its issuer
//! alone, and the arguments of a call are always a JSON object, whatever the model wrote.

use bytes::Bytes;
use model_wire::pieces::{self, Elements, Piece, encoded};
use runtime_ports::{
    ImageSource, ModelContent, ModelMessage, ModelRequest, ModelRole, ResponseFormat, ToolChoice,
    ToolSet,
};
use serde_json::{Map, Value, json};

use crate::{
    chat::reasoning::CALL_EXTRA,
    content::{arguments_text, data_url, joined},
    features::Feature,
    profile::{Delivery, MaxTokensField, Written},
};

/// One message as the elements of a body.
pub(crate) fn piece(message: &ModelMessage, written: &Written<'_>) -> Vec<u8> {
    let mut piece = Piece::default();
    for content in &message.content {
        if let ModelContent::ToolResult { tool_use_id, content, .. } = content {
            let result = json!({"role": "tool", "tool_call_id": tool_use_id, "content": content});
            piece.push(&result);
        }
    }
    match message.role {
        ModelRole::Assistant => assistant(message, written, &mut piece),
        ModelRole::System => spoken(message, "system", &mut piece),
        ModelRole::User | ModelRole::Tool => spoken(message, "user", &mut piece),
    }
    piece.into_bytes()
}

/// Text and pictures of an application or a person. Those among tool results wait until the last
/// result: nothing may stand between the results of one turn.
fn spoken(message: &ModelMessage, role: &str, piece: &mut Piece) {
    let text = joined(message, "\n\n");
    let images: Vec<Value> = message.content.iter().filter_map(image_part).collect();
    let content = match (text.is_empty(), images.is_empty()) {
        (true, true) => return,
        (false, true) => Value::String(text),
        (_, false) => parts(text, images),
    };
    let element = json!({"role": role, "content": content});
    if message.role == ModelRole::Tool { piece.defer(&element) } else { piece.push(&element) }
}

fn parts(text: String, images: Vec<Value>) -> Value {
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    Value::Array(text.into_iter().chain(images).collect())
}

fn image_part(content: &ModelContent) -> Option<Value> {
    let ModelContent::Image { source } = content else { return None };
    let url = match source {
        ImageSource::Url { url } => url.clone(),
        ImageSource::Inline { media_type, base64 } => data_url(media_type, base64),
    };
    Some(json!({"type": "image_url", "image_url": {"url": url}}))
}

fn assistant(message: &ModelMessage, written: &Written<'_>, piece: &mut Piece) {
    let mut fields = Map::new();
    let text = joined(message, "");
    let calls = calls(message, written);
    if text.is_empty() && calls.is_empty() {
        return;
    }
    fields.insert("role".to_owned(), Value::from("assistant"));
    let content = if text.is_empty() { Value::Null } else { Value::String(text) };
    fields.insert("content".to_owned(), content);
    if !calls.is_empty() {
        replay_reasoning(message, written, &mut fields);
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    piece.push(&Value::Object(fields));
}

/// Reasoning fields go back with the calls they led to, and only then: the servers that need them
/// need them there, and some refuse them elsewhere.
fn replay_reasoning(
    message: &ModelMessage,
    written: &Written<'_>,
    fields: &mut Map<String, Value>,
) {
    if !written.features.has(Feature::ReasoningReplay) {
        return;
    }
    for opaque in message.content.iter().filter_map(|content| written.own_reasoning(content)) {
        let replayed = ["reasoning_content", "reasoning", "reasoning_details", "extra_content"];
        for (name, value) in opaque.as_object().into_iter().flatten() {
            if replayed.contains(&name.as_str()) {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
}

fn calls(message: &ModelMessage, written: &Written<'_>) -> Vec<Value> {
    let mut extra = None;
    let mut calls = Vec::new();
    for content in &message.content {
        if let Some(opaque) = written.own_reasoning(content) {
            extra = opaque.get(CALL_EXTRA).cloned();
        }
        let ModelContent::ToolUse { id, name, arguments } = content else { continue };
        let function = json!({"name": name, "arguments": arguments_text(arguments)});
        let mut call = json!({"id": id, "type": "function", "function": function});
        if let Some(extra) = extra.take() {
            call["extra_content"] = extra;
        }
        calls.push(call);
    }
    calls
}

/// The body of a request around its messages.
pub(crate) fn body(
    request: &ModelRequest,
    messages: &Elements,
    tools: Option<Bytes>,
    written: &Written<'_>,
) -> Bytes {
    let mut rest: Vec<(&str, Bytes)> = Vec::new();
    let mut add = |name, value: &Value| rest.push((name, encoded(value).into()));
    if let Some(limit) = request.max_output_tokens {
        add(written.max_tokens_field().name(), &limit.into());
    }
    let options = &request.options;
    if let Some(temperature) = options.temperature {
        add("temperature", &temperature.into());
    }
    if !options.stop.is_empty() {
        add("stop", &json!(options.stop));
    }
    if let Some(format) = response_format(&options.response_format) {
        add("response_format", &format);
    }
    if let Some(effort) = &options.reasoning_effort {
        add("reasoning_effort", &json!(effort));
    }
    if let Some(choice) = tool_choice(&options.tool_choice).filter(|_| tools.is_some()) {
        add("tool_choice", &choice);
    }
    if written.delivery == Delivery::Streamed {
        add("stream", &true.into());
        if written.features.has(Feature::StreamOptions) {
            add("stream_options", &json!({"include_usage": true}));
        }
    }
    rest.extend(tools.map(|tools| ("tools", tools)));
    pieces::body(&request.model, "messages", messages, &rest)
}

/// The tools of a request.
pub(crate) fn tools(tools: &ToolSet) -> Value {
    let functions = tools.iter().map(|tool| {
        let function = json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        });
        json!({"type": "function", "function": function})
    });
    functions.collect()
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Named { name } => Some(json!({"type": "function", "function": {"name": name}})),
    }
}

fn response_format(format: &ResponseFormat) -> Option<Value> {
    match format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(json!({"type": "json_object"})),
        ResponseFormat::JsonSchema { name, schema, strict } => {
            let schema = json!({"name": name, "schema": schema, "strict": strict});
            Some(json!({"type": "json_schema", "json_schema": schema}))
        }
    }
}

impl MaxTokensField {
    /// The name on the wire.
    const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

#[cfg(test)]
mod tests;
