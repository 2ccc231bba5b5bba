//! Decides how a request is written for Responses.
//!
//! Knows nothing about when a message is written. Invariant: an item that only its issuer can read
//! goes back to that issuer alone, unchanged and in its place; nothing is stored at the provider.

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
    content::{arguments_text, call_id, data_url, joined, role, tool_outputs},
    demands::{Choice, Demands, Form},
    features::Feature,
    history::Place,
    profile::Written,
};

/// Key under which the phase of the following message is kept.
pub(super) const MESSAGE_PHASE: &str = "message_phase";

/// One message as items of the input.
pub(crate) fn piece(message: &ModelMessage, place: Place, written: &Written<'_>) -> Vec<u8> {
    let mut piece = Piece::default();
    let (outputs, images) = tool_outputs(message, written.server);
    for output in outputs {
        let images: Vec<Value> = output.images.into_iter().filter_map(image_part).collect();
        let content = match images.is_empty() {
            true => Value::from(output.text),
            false => parts(output.text.to_owned(), images),
        };
        let (kind, id) = ("function_call_output", call_id(output.call_id, written.server));
        piece.push(&json!({"type": kind, "call_id": id, "output": content}));
    }
    match message.role {
        ModelRole::Assistant => assistant(message, written, &mut piece),
        other => spoken(message, &images, role(other, place, written.server), &mut piece),
    }
    piece.into_bytes()
}

fn spoken(message: &ModelMessage, images: &[&ModelContent], role: &str, piece: &mut Piece) {
    let text = joined(message, "\n\n");
    let images: Vec<Value> = images.iter().copied().filter_map(image_part).collect();
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
/// the one after it; without, and for servers that want it so, the calls stand last: some split a
/// turn at a text between two calls.
fn assistant(message: &ModelMessage, written: &Written<'_>, piece: &mut Piece) {
    let items = items(message, written);
    let is_call = |item: &&Value| item["type"] == "function_call";
    let has_own = message.content.iter().any(|content| written.own_reasoning(content).is_some());
    if has_own && !written.server.calls_last {
        followed(&items).for_each(|item| piece.push(item));
        return;
    }
    let rest: Vec<&Value> = followed(&items).filter(|item| !is_call(item)).collect();
    rest.into_iter().for_each(|item| piece.push(item));
    items.iter().filter(is_call).for_each(|item| piece.push(item));
}

/// The items without reasoning that nothing follows: servers refuse a lone one.
fn followed(items: &[Value]) -> impl Iterator<Item = &Value> {
    let last = items.iter().rposition(|item| item["type"] != "reasoning");
    items.iter().take(last.map_or(0, |last| last + 1))
}

fn items(message: &ModelMessage, written: &Written<'_>) -> Vec<Value> {
    let (mut items, mut phase) = (Vec::new(), None);
    for content in &message.content {
        if let Some(opaque) = written.own_reasoning(content) {
            phase = opaque.get(MESSAGE_PHASE).filter(|_| written.server.item_phase).cloned();
        }
        let Some(mut item) = item(content, written) else { continue };
        if item["type"] == "message"
            && let Some(phase) = phase.take()
        {
            item["phase"] = phase;
        }
        items.push(item);
    }
    items
}

fn item(content: &ModelContent, written: &Written<'_>) -> Option<Value> {
    match content {
        ModelContent::Text { text } if !text.is_empty() => {
            let part = json!({"type": "output_text", "text": text, "annotations": []});
            Some(json!({"type": "message", "role": "assistant", "content": [part]}))
        }
        ModelContent::ToolUse { id, name, arguments } => Some(json!({
            "type": "function_call",
            "call_id": call_id(id, written.server),
            "name": name,
            "arguments": arguments_text(arguments),
        })),
        ModelContent::Reasoning { .. } => {
            let own = written.own_reasoning(content).filter(|opaque| is_item(opaque));
            own.map(|item| taken_back(item, written))
        }
        _ => None,
    }
}

/// An item as the server takes it back: without the fields that it knows in answers only.
fn taken_back(item: &Value, written: &Written<'_>) -> Value {
    let mut item = item.clone();
    if let Value::Object(fields) = &mut item {
        let known = [("status", written.server.item_status), ("phase", written.server.item_phase)];
        for (name, _) in known.into_iter().filter(|(_, is_known)| !is_known) {
            fields.remove(name);
        }
    }
    item
}

fn is_item(opaque: &Value) -> bool {
    opaque.get("type").is_some_and(Value::is_string)
}

/// What of a conversation the server keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept<'a> {
    /// Nothing; the whole history is sent.
    Nothing,
    /// This response, so that it can be continued; the whole history is sent.
    Response,
    /// This response as well; only what follows the named one is sent.
    ResponseAfter(&'a str),
}

/// The body of a request around its input.
pub(crate) fn body(
    request: &ModelRequest,
    input: &Elements,
    tools: Option<Bytes>,
    demands: &Demands<'_>,
    written: &Written<'_>,
) -> Bytes {
    let mut rest: Vec<(&str, Bytes)> = Vec::new();
    let mut add = |name, value: &Value| rest.push((name, encoded(value).into()));
    add("store", &(written.kept != Kept::Nothing).into());
    if let Kept::ResponseAfter(previous) = written.kept {
        add("previous_response_id", &previous.into());
    }
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
    if let Some(format) = text_format(demands.form) {
        add("text", &json!({"format": format}));
    }
    let reasoning = reasoning(options.reasoning_effort.as_deref(), written.reasoning_summary);
    if !reasoning.is_empty() {
        add("reasoning", &Value::Object(reasoning));
    }
    if let Some(choice) = tool_choice(demands.choice).filter(|_| tools.is_some()) {
        add("tool_choice", &choice);
    }
    if tools.is_some() && written.asks_for_one_call() {
        add("parallel_tool_calls", &false.into());
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

/// The tools of a request, in their order. `strict` is said, because its default would change the
/// schemas.
pub(crate) fn tools(tools: &[ModelToolDefinition]) -> Value {
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

fn tool_choice(choice: Choice<'_>) -> Option<Value> {
    match choice {
        Choice::Auto => None,
        Choice::None => Some(json!("none")),
        Choice::Required => Some(json!("required")),
        Choice::Named(name) => Some(json!({"type": "function", "name": name})),
    }
}

fn text_format(form: Form<'_>) -> Option<Value> {
    match form {
        Form::Text => None,
        Form::JsonObject => Some(json!({"type": "json_object"})),
        Form::JsonSchema { name, schema, strict } => {
            let mut format = json!({"type": "json_schema", "name": name, "schema": schema});
            if let Some(strict) = strict {
                format["strict"] = strict.into();
            }
            Some(format)
        }
    }
}

#[cfg(test)]
mod tests;
