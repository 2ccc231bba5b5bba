//! Decides how a provider of the suite speaks Chat Completions and Responses.
//!
//! Knows nothing about connections.

use openai_adapter::{Api, Delivery};
use port_conformance::model::{Answer, Piece};
use runtime_ports::{ModelFinish, TokenUsage};
use serde_json::{Map, Value, json};
use wire_rehearsal::provider::Spoken;

/// Which of the four ways to answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire {
    pub(crate) api: Api,
    pub(crate) delivery: Delivery,
}

impl Wire {
    /// The events of an answer: its pieces, and then what ends it.
    pub(crate) fn events(self, answer: &Answer) -> Spoken {
        match self.api {
            Api::Chat => chat_events(answer),
            Api::Responses => responses_events(answer),
        }
    }

    /// The answer as one document.
    pub(crate) fn document(self, answer: &Answer) -> String {
        match self.api {
            Api::Chat => chat_document(answer),
            Api::Responses => response(answer).to_string(),
        }
    }
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Arguments in fragments of a few characters.
fn fragments(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(5).map(|piece| piece.iter().collect()).collect()
}

fn chat_finish(finish: ModelFinish) -> &'static str {
    match finish {
        ModelFinish::Stop => "stop",
        ModelFinish::ToolCalls => "tool_calls",
        ModelFinish::Length => "length",
        ModelFinish::ContentFilter => "content_filter",
        ModelFinish::Other => "insufficient_system_resource",
    }
}

fn chat_delta(delta: &Value) -> String {
    event(&json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta}]}))
}

fn chat_events(answer: &Answer) -> Spoken {
    let mut begun = vec![chat_delta(&json!({"role": "assistant", "content": ""}))];
    let mut calls = 0;
    for piece in &answer.pieces {
        match piece {
            Piece::Text(fragments) => {
                begun.extend(fragments.iter().map(|text| chat_delta(&json!({"content": text}))));
            }
            Piece::Reasoning { text, opaque } => {
                begun.push(chat_delta(&chat_reasoning(text, opaque)));
            }
            Piece::Call { id, name, arguments } => {
                begun.extend(chat_call(calls, id.as_deref(), name, arguments));
                calls += 1;
            }
        }
    }
    let finish = json!({"index": 0, "delta": {}, "finish_reason": chat_finish(answer.finish)});
    let mut end = vec![event(&json!({"id": "chatcmpl-1", "choices": [finish]}))];
    if let Some(usage) = usage(answer, ["prompt_tokens", "completion_tokens"], CHAT_DETAILS) {
        end.push(event(&json!({"id": "chatcmpl-1", "choices": [], "usage": usage})));
    }
    end.push("data: [DONE]\n\n".to_owned());
    Spoken::Events { begun, end }
}

fn chat_reasoning(text: &str, opaque: &Value) -> Value {
    let detail = json!({"type": "reasoning.encrypted", "data": opaque});
    json!({"reasoning": text, "reasoning_details": [detail]})
}

fn chat_call(index: usize, id: Option<&str>, name: &str, arguments: &str) -> Vec<String> {
    let call = |call: &Value| chat_delta(&json!({"tool_calls": [call]}));
    let mut head = json!({"index": index, "type": "function", "function": {"name": name}});
    if let Some(id) = id {
        head["id"] = id.into();
    }
    let tail = fragments(arguments)
        .into_iter()
        .map(|fragment| call(&json!({"index": index, "function": {"arguments": fragment}})));
    [call(&head)].into_iter().chain(tail).collect()
}

fn chat_document(answer: &Answer) -> String {
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant"))]);
    let mut calls = Vec::new();
    message.insert("content".to_owned(), answer.whole_text().into());
    for piece in &answer.pieces {
        match piece {
            Piece::Text(_) => {}
            Piece::Reasoning { text, opaque } => {
                let fields = chat_reasoning(text, opaque);
                message.extend(fields.as_object().cloned().unwrap_or_default());
            }
            Piece::Call { id, name, arguments } => {
                let function = json!({"name": name, "arguments": arguments});
                let mut call = json!({"type": "function", "function": function});
                if let Some(id) = id {
                    call["id"] = id.as_str().into();
                }
                calls.push(call);
            }
        }
    }
    message.insert("tool_calls".to_owned(), calls.into());
    let finish = chat_finish(answer.finish);
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    let usage = usage(answer, ["prompt_tokens", "completion_tokens"], CHAT_DETAILS);
    json!({"id": "chatcmpl-1", "choices": [choice], "usage": usage}).to_string()
}

const CHAT_DETAILS: [&str; 2] = ["prompt_tokens_details", "completion_tokens_details"];
const RESPONSES_DETAILS: [&str; 2] = ["input_tokens_details", "output_tokens_details"];

fn usage(answer: &Answer, names: [&str; 2], details: [&str; 2]) -> Option<Value> {
    if answer.usage.is_none() && answer.cost_nano_usd.is_none() {
        return None;
    }
    let counts = answer.usage.unwrap_or_default();
    let mut report = known(&[(names[0], counts.input_tokens), (names[1], counts.output_tokens)]);
    let TokenUsage { cached_input_tokens, cache_write_tokens, reasoning_tokens, .. } = counts;
    let input =
        [("cached_tokens", cached_input_tokens), ("cache_write_tokens", cache_write_tokens)];
    report.insert(details[0].to_owned(), known(&input).into());
    let output = known(&[("reasoning_tokens", reasoning_tokens)]);
    report.insert(details[1].to_owned(), output.into());
    #[expect(clippy::cast_precision_loss, reason = "the costs of the suite are small")]
    if let Some(cost) = answer.cost_nano_usd {
        report.insert("cost".to_owned(), json!(cost as f64 / 1e9));
    }
    Some(report.into())
}

fn known(counts: &[(&str, Option<u64>)]) -> Map<String, Value> {
    let known =
        counts.iter().filter_map(|(name, count)| Some(((*name).to_owned(), (*count)?.into())));
    known.collect()
}

fn response_item(position: usize, piece: &Piece) -> Value {
    match piece {
        Piece::Text(fragments) => json!({
            "type": "message",
            "id": format!("msg_{position}"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": fragments.concat(), "annotations": []}],
        }),
        Piece::Reasoning { text, opaque } => json!({
            "type": "reasoning",
            "id": format!("rs_{position}"),
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": opaque,
        }),
        Piece::Call { id, name, arguments } => {
            let mut item = json!({"type": "function_call", "name": name, "arguments": arguments});
            if let Some(id) = id {
                item["id"] = format!("fc_{position}").into();
                item["call_id"] = id.as_str().into();
            }
            item
        }
    }
}

fn response(answer: &Answer) -> Value {
    let items = answer.pieces.iter().enumerate().map(|(at, piece)| response_item(at, piece));
    let (status, reason) = match answer.finish {
        ModelFinish::Stop | ModelFinish::ToolCalls => ("completed", None),
        ModelFinish::Length => ("incomplete", Some("max_output_tokens")),
        ModelFinish::ContentFilter => ("incomplete", Some("content_filter")),
        ModelFinish::Other => ("incomplete", Some("something_new")),
    };
    json!({
        "id": "resp_1",
        "object": "response",
        "status": status,
        "incomplete_details": reason.map(|reason| json!({"reason": reason})),
        "output": items.collect::<Vec<_>>(),
        "usage": usage(answer, ["input_tokens", "output_tokens"], RESPONSES_DETAILS),
    })
}

fn responses_events(answer: &Answer) -> Spoken {
    let created = json!({"id": "resp_1", "status": "in_progress", "output": []});
    let mut begun = vec![event(&json!({"type": "response.created", "response": created}))];
    for (at, piece) in answer.pieces.iter().enumerate() {
        begun.extend(item_events(at, piece));
    }
    let response = response(answer);
    let kind = format!("response.{}", response["status"].as_str().unwrap_or_default());
    let end = vec![event(&json!({"type": kind, "response": response}))];
    Spoken::Events { begun, end }
}

fn item_events(at: usize, piece: &Piece) -> Vec<String> {
    let done = response_item(at, piece);
    let mut added = done.clone();
    let (kind, pieces) = match piece {
        Piece::Text(fragments) => {
            added["content"] = json!([]);
            ("response.output_text.delta", fragments.clone())
        }
        Piece::Reasoning { text, .. } => {
            added["summary"] = json!([]);
            ("response.reasoning_summary_text.delta", vec![text.clone()])
        }
        Piece::Call { arguments, .. } => {
            added["arguments"] = json!("");
            ("response.function_call_arguments.delta", fragments(arguments))
        }
    };
    let named =
        |kind: &str, item: &Value| event(&json!({"type": kind, "output_index": at, "item": item}));
    let mut events = vec![named("response.output_item.added", &added)];
    events.extend(
        pieces
            .iter()
            .map(|delta| event(&json!({"type": kind, "output_index": at, "delta": delta}))),
    );
    events.push(named("response.output_item.done", &done));
    events
}
