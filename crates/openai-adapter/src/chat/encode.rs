//! Decides how a request is written for Chat Completions.
//!
//! Knows nothing about when a message is written. Invariant: reasoning goes back to its issuer
//! alone, and the arguments of a call are always a JSON object, whatever the model wrote.

use bytes::Bytes;
use model_wire::{
    Delivery,
    pieces::{self, Elements, Piece, encoded},
};
use runtime_ports::{
    ImageSource, ModelContent, ModelMessage, ModelRequest, ModelRole, ModelToolDefinition,
};
use serde_json::{Map, Value, json};

use crate::{
    chat::reasoning::CALL_EXTRA,
    content::{arguments_text, call_id, data_url, joined, role, tool_outputs},
    demands::{Choice, Demands, Form},
    features::Feature,
    history::Place,
    profile::{MaxTokensField, Written},
    server_profile::ReasoningReplay,
};

/// One message as the elements of a body.
pub(crate) fn piece(message: &ModelMessage, place: Place, written: &Written<'_>) -> Vec<u8> {
    let mut piece = Piece::default();
    let (outputs, images) = tool_outputs(message, written.server);
    for output in outputs {
        let images: Vec<Value> = output.images.into_iter().filter_map(image_part).collect();
        let content = match images.is_empty() {
            true => Value::from(output.text),
            false => parts(output.text.to_owned(), images),
        };
        let id = call_id(output.call_id, written.server);
        piece.push(&json!({"role": "tool", "tool_call_id": id, "content": content}));
    }
    match message.role {
        ModelRole::Assistant => assistant(message, written, &mut piece),
        other => spoken(message, &images, role(other, place, written.server), &mut piece),
    }
    piece.into_bytes()
}

/// Text and pictures of an application or a person. Those among tool results wait until the last
/// result: nothing may stand between the results of one turn.
fn spoken(message: &ModelMessage, images: &[&ModelContent], role: &str, piece: &mut Piece) {
    let text = joined(message, "\n\n");
    let images: Vec<Value> = images.iter().copied().filter_map(image_part).collect();
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
    replay_reasoning(message, written, !calls.is_empty(), &mut fields);
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    piece.push(&Value::Object(fields));
}

/// Reasoning goes back with the calls that it led to; whether it does elsewhere, and whether a turn
/// with calls must have some, the server's profile says.
fn replay_reasoning(
    message: &ModelMessage,
    written: &Written<'_>,
    calls: bool,
    fields: &mut Map<String, Value>,
) {
    let replay = written.server.reasoning_replay;
    if !written.features.has(Feature::ReasoningReplay)
        || !(calls || replay == ReasoningReplay::Always)
    {
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
    let field = &written.server.reasoning_field;
    if replay == ReasoningReplay::WithEveryCall && calls && !fields.contains_key(field) {
        fields.insert(field.clone(), Value::from(""));
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
        let id = call_id(id, written.server);
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
    demands: &Demands<'_>,
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
    if let Some(format) = response_format(demands.form) {
        add("response_format", &format);
    }
    if let Some(effort) = &options.reasoning_effort {
        add("reasoning_effort", &json!(effort));
    }
    if let Some(choice) = tool_choice(demands.choice).filter(|_| tools.is_some()) {
        add("tool_choice", &choice);
    }
    if tools.is_some() && written.asks_for_one_call() {
        add("parallel_tool_calls", &false.into());
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

/// The tools of a request, in their order.
pub(crate) fn tools(tools: &[ModelToolDefinition]) -> Value {
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

fn tool_choice(choice: Choice<'_>) -> Option<Value> {
    match choice {
        Choice::Auto => None,
        Choice::None => Some(json!("none")),
        Choice::Required => Some(json!("required")),
        Choice::Named(name) => Some(json!({"type": "function", "function": {"name": name}})),
    }
}

fn response_format(form: Form<'_>) -> Option<Value> {
    match form {
        Form::Text => None,
        Form::JsonObject => Some(json!({"type": "json_object"})),
        Form::JsonSchema { name, schema, strict } => {
            let mut schema = json!({"name": name, "schema": schema});
            if let Some(strict) = strict {
                schema["strict"] = strict.into();
            }
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
