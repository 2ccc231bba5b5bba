//! Decides how a provider of the suite speaks the Messages API.
//!
//! Knows nothing about connections.

use port_conformance::model::{Answer, Piece};
use runtime_ports::{ModelFinish, TokenUsage};
use serde_json::{Map, Value, json};
use wire_rehearsal::provider::Spoken;

/// The events of an answer: its pieces, and then what ends it.
pub(crate) fn events(answer: &Answer) -> Spoken {
    let mut begun = vec![event(&json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": null,
    }}))];
    for (at, piece) in answer.pieces.iter().enumerate() {
        begun.extend(block_events(at, piece));
    }
    let mut delta =
        json!({"type": "message_delta", "delta": {"stop_reason": reason(answer.finish)}});
    if let Some(usage) = usage(answer) {
        delta["usage"] = usage;
    }
    let end = vec![event(&delta), event(&json!({"type": "message_stop"}))];
    Spoken::Events { begun, end }
}

/// The answer as one document.
pub(crate) fn document(answer: &Answer) -> String {
    let content: Vec<Value> = answer.pieces.iter().map(whole).collect();
    let document = json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": reason(answer.finish),
        "usage": usage(answer),
    });
    document.to_string()
}

fn event(value: &Value) -> String {
    let name = value["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n")
}

const fn reason(finish: ModelFinish) -> &'static str {
    match finish {
        ModelFinish::Stop => "end_turn",
        ModelFinish::ToolCalls => "tool_use",
        ModelFinish::Length => "max_tokens",
        ModelFinish::ContentFilter => "refusal",
        ModelFinish::Other => "pause_turn",
    }
}

/// Arguments in fragments of a few characters.
fn fragments(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(5).map(|piece| piece.iter().collect()).collect()
}

/// A block as it is in a document; a server of the suite puts arguments that are no object as text.
fn whole(piece: &Piece) -> Value {
    match piece {
        Piece::Text(fragments) => json!({"type": "text", "text": fragments.concat()}),
        Piece::Reasoning { text, opaque } => {
            json!({"type": "thinking", "thinking": text, "signature": opaque})
        }
        Piece::Call { id, name, arguments } => {
            let input = serde_json::from_str(arguments).ok().filter(Value::is_object);
            let input = input.unwrap_or_else(|| arguments.as_str().into());
            let mut block = json!({"type": "tool_use", "name": name, "input": input});
            if let Some(id) = id {
                block["id"] = id.as_str().into();
            }
            block
        }
    }
}

fn block_events(index: usize, piece: &Piece) -> Vec<String> {
    let mut begun = whole(piece);
    let deltas: Vec<Value> = match piece {
        Piece::Text(fragments) => {
            begun["text"] = "".into();
            fragments.iter().map(|text| json!({"type": "text_delta", "text": text})).collect()
        }
        Piece::Reasoning { text, opaque } => {
            (begun["thinking"], begun["signature"]) = ("".into(), "".into());
            vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": opaque}),
            ]
        }
        Piece::Call { arguments, .. } => {
            begun["input"] = json!({});
            let pieces = fragments(arguments).into_iter();
            pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect()
        }
    };
    let start = json!({"type": "content_block_start", "index": index, "content_block": begun});
    let deltas = deltas
        .into_iter()
        .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
    let stop = json!({"type": "content_block_stop", "index": index});
    [start].into_iter().chain(deltas).chain([stop]).map(|value| event(&value)).collect()
}

/// The counts as this API reports them: what is cached stands beside the input.
fn usage(answer: &Answer) -> Option<Value> {
    if answer.usage.is_none() && answer.cost_nano_usd.is_none() {
        return None;
    }
    let TokenUsage {
        input_tokens,
        output_tokens,
        cached_input_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens,
    } = answer.usage.unwrap_or_default();
    let cache = read.unwrap_or(0) + written.unwrap_or(0);
    let counts = [
        ("input_tokens", input_tokens.map(|whole| whole - cache)),
        ("output_tokens", output_tokens),
        ("cache_read_input_tokens", read),
        ("cache_creation_input_tokens", written),
    ];
    let known =
        counts.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count?.into())));
    let mut report: Map<String, Value> = known.collect();
    if let Some(thinking) = reasoning_tokens {
        report.insert("output_tokens_details".to_owned(), json!({"thinking_tokens": thinking}));
    }
    #[expect(clippy::cast_precision_loss, reason = "the costs of the suite are small")]
    if let Some(cost) = answer.cost_nano_usd {
        report.insert("cost".to_owned(), json!(cost as f64 / 1e9));
    }
    Some(report.into())
}
