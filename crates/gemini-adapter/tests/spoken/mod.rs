//! Decides how a provider of the suite speaks the Gemini API.
//!
//! Knows nothing about connections.

use port_conformance::model::{Answer, Piece};
use runtime_ports::{ModelFinish, TokenUsage};
use serde_json::{Map, Value, json};
use wire_rehearsal::provider::Spoken;

/// The events of an answer: its parts, and then what ends it.
pub(crate) fn events(answer: &Answer) -> Spoken {
    let begun = parts(answer).into_iter().map(|part| event(answer, frame(answer, &[part], None)));
    let end = with_usage(answer, frame(answer, &[], Some(finish(answer.finish))));
    Spoken::Events { begun: begun.collect(), end: vec![event(answer, end)] }
}

/// The answer as one document.
pub(crate) fn document(answer: &Answer) -> String {
    let whole = frame(answer, &parts(answer), Some(finish(answer.finish)));
    with_usage(answer, whole).to_string()
}

fn event(_answer: &Answer, value: Value) -> String {
    format!("data: {value}\r\n\r\n")
}

fn frame(answer: &Answer, parts: &[Value], reason: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = reason {
        candidate["finishReason"] = reason.into();
    }
    let mut frame = json!({"candidates": [candidate], "modelVersion": "served"});
    if let Some(id) = &answer.request_id {
        frame["responseId"] = id.as_str().into();
    }
    frame
}

fn finish(finish: ModelFinish) -> &'static str {
    match finish {
        ModelFinish::Stop | ModelFinish::ToolCalls => "STOP",
        ModelFinish::Length => "MAX_TOKENS",
        ModelFinish::ContentFilter => "SAFETY",
        ModelFinish::Other => "SOMETHING_NEW",
    }
}

/// The parts of an answer. What only the issuer can read is the signature of the part after it.
fn parts(answer: &Answer) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    let mut signature = Value::Null;
    for piece in &answer.pieces {
        let fresh: Vec<Value> = match piece {
            Piece::Text(fragments) => {
                fragments.iter().map(|text| json!({ "text": text })).collect()
            }
            Piece::Reasoning { text, opaque } => {
                parts.push(json!({"text": text, "thought": true}));
                signature = opaque.clone();
                continue;
            }
            Piece::Call { id, name, arguments } => vec![call(id.as_deref(), name, arguments)],
        };
        let first = parts.len();
        parts.extend(fresh);
        if let Some(part) = parts.get_mut(first).filter(|_| !signature.is_null()) {
            part["thoughtSignature"] = signature.take();
        }
    }
    parts
}

/// The API writes arguments as an object; what is none, a gateway hands on as text.
fn call(id: Option<&str>, name: &str, arguments: &str) -> Value {
    let object = serde_json::from_str::<Value>(arguments).ok().filter(Value::is_object);
    let mut call = json!({"name": name, "args": object.unwrap_or_else(|| arguments.into())});
    if let Some(id) = id {
        call["id"] = id.into();
    }
    json!({ "functionCall": call })
}

/// Thoughts are counted beside the answer, and the total counts everything.
fn with_usage(answer: &Answer, mut frame: Value) -> Value {
    let Some(usage) = answer.usage else { return frame };
    let TokenUsage { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, .. } =
        usage;
    let spoken = output_tokens.map(|output| output - reasoning_tokens.unwrap_or(0));
    let total = input_tokens.zip(output_tokens).map(|(input, output)| input + output);
    let counts = [
        ("promptTokenCount", input_tokens),
        ("candidatesTokenCount", spoken),
        ("cachedContentTokenCount", cached_input_tokens),
        ("thoughtsTokenCount", reasoning_tokens),
        ("totalTokenCount", total),
    ];
    let known =
        counts.iter().filter_map(|(name, count)| Some(((*name).to_owned(), (*count)?.into())));
    frame["usageMetadata"] = Value::Object(known.collect::<Map<String, Value>>());
    frame
}
