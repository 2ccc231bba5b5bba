//! Decides whether a history with tools that was served by several vendors in turn goes back to each
//! with what is its own, over real adapters and real bytes.

use std::{sync::Arc, time::Duration};

use anthropic_adapter::AnthropicSession;
use gemini_adapter::GeminiSession;
use openai_adapter::{Api, OpenAiSession, ServerProfile};
use router_adapter::{Catalogue, Router, RouterBuilder};
use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelRole, ModelSession, ModelToolDefinition,
    OperationContext, ToolSet, Transcript,
};
use serde_json::{Value, json};
use uuid::Uuid;
use wire_rehearsal::loopback::{self, Act, Loopback};

fn catalogue(fallbacks: &[&str]) -> Catalogue {
    let model = |name: &str, fallbacks: &[&str]| {
        format!(
            "[[models]]\nid = '{name}'\nprovider = '{name}'\nprovider_model = '{name}-1'\n\
             context_window_tokens = 100000\nmax_input_tokens = 90000\nfallbacks = {fallbacks:?}\n"
        )
    };
    let others = fallbacks.iter().map(|name| model(name, &[]));
    let text: String = std::iter::once(model("first", fallbacks)).chain(others).collect();
    Catalogue::parse(&text).unwrap()
}

fn named(events: &[Value]) -> Vec<Act> {
    let frame = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    whole(&events.iter().map(frame).collect::<String>())
}

fn unnamed(events: &[Value]) -> Vec<Act> {
    whole(&events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>())
}

fn whole(body: &str) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    vec![Act::Send(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())]
}

fn no_quota() -> Vec<Act> {
    let error = json!({ "error": { "code": "insufficient_quota", "message": "pay first" } });
    loopback::json("429 No", &error.to_string())
}

/// Sealed reasoning of the Responses API.
fn sealed(number: usize) -> Value {
    json!({
        "type": "reasoning", "id": format!("rs_{number}"), "summary": [],
        "encrypted_content": format!("sealed+/={number}"),
    })
}

/// The first vendor thinks in secret, and calls a tool.
fn first(number: usize) -> Vec<Act> {
    let call = json!({
        "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_A-{number}"),
        "name": "read", "arguments": "{\"path\":\"a\"}", "status": "completed",
    });
    let usage = json!({ "input_tokens": 10, "output_tokens": 2 });
    let response = json!({ "id": "resp", "status": "completed", "output": [], "usage": usage });
    named(&[
        json!({ "type": "response.output_item.done", "output_index": 0, "item": sealed(number) }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": call }),
        json!({ "type": "response.completed", "response": response }),
    ])
}

/// The second signs its thoughts.
fn second(number: usize) -> Vec<Act> {
    let message = json!({
        "id": "msg", "type": "message", "role": "assistant", "model": "second-1", "content": [],
        "stop_reason": null, "usage": { "input_tokens": 20, "output_tokens": 1 },
    });
    let start = |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let stop = |index: u32| json!({ "type": "content_block_stop", "index": index });
    let id = format!("toolu_B{number}");
    named(&[
        json!({ "type": "message_start", "message": message }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": format!("thought {number}") })),
        delta(0, json!({ "type": "signature_delta", "signature": format!("signed{number}") })),
        stop(0),
        start(1, json!({ "type": "tool_use", "id": id, "name": "read", "input": {} })),
        delta(1, json!({ "type": "input_json_delta", "partial_json": "{\"path\":\"b\"}" })),
        stop(1),
        json!({
            "type": "message_delta", "delta": { "stop_reason": "tool_use" },
            "usage": { "output_tokens": 4 },
        }),
        json!({ "type": "message_stop" }),
    ])
}

/// The third puts a signature on its call.
fn third() -> Vec<Act> {
    let parts = json!([
        { "text": "a thought of the third", "thought": true },
        { "functionCall": { "name": "read", "args": { "path": "c" } }, "thoughtSignature": "c2ln" },
    ]);
    let content = json!({ "role": "model", "parts": parts });
    let usage = json!({ "promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12 });
    unnamed(&[json!({
        "candidates": [{ "content": content, "index": 0, "finishReason": "STOP" }],
        "modelVersion": "third-1", "usageMetadata": usage,
    })])
}

/// A server whose ids of calls have nine letters and digits.
fn narrow() -> Vec<Act> {
    let function = json!({ "name": "read", "arguments": "{\"path\":\"d\"}" });
    let call = json!({ "index": 0, "id": "D2n8dk31z", "type": "function", "function": function });
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({
            "id": "c", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    };
    let delta = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
    let mut acts = unnamed(&[chunk(delta, None), chunk(json!({}), Some("tool_calls"))]);
    if let [Act::Send(bytes)] = &mut acts[..] {
        let body = String::from_utf8(bytes.clone()).unwrap();
        let (_, body) = body.split_once("\r\n\r\n").unwrap();
        acts = whole(&format!("{body}data: [DONE]\n\n"));
    }
    acts
}

async fn ask(session: &dyn ModelSession, history: &mut Transcript) {
    let id = Uuid::new_v4();
    let operation = OperationContext::root(id.into(), id.into(), Duration::from_secs(30));
    history.push(ModelMessage::text(ModelRole::User, "go on"));
    let read = ModelToolDefinition {
        name: "read".into(),
        description: "Reads.".into(),
        input_schema: json!({ "type": "object" }),
    };
    let request = ModelRequest {
        invocation_id: "run-1".into(),
        model: "first".into(),
        messages: history.clone(),
        tools: ToolSet::new(vec![read]),
        max_output_tokens: None,
        options: Arc::default(),
    };
    let content = session.invoke(&operation, request).await.unwrap().output;
    let results = content.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, .. } => Some(ModelContent::ToolResult {
            tool_use_id: id.clone(),
            name: name.clone(),
            content: "the text of the file".into(),
            failed: false,
        }),
        _ => None,
    });
    let results = ModelMessage { role: ModelRole::Tool, content: results.collect() };
    assert_eq!(results.content.len(), 1, "each of them calls a tool");
    history.push(ModelMessage { role: ModelRole::Assistant, content });
    history.push(results);
}

async fn asked(builder: RouterBuilder, times: usize) -> Transcript {
    let router = builder.start().await.unwrap();
    let session = router.session("ada", None);
    let mut history = Transcript::new();
    for _ in 0..times {
        ask(session.as_ref(), &mut history).await;
    }
    history
}

fn responses(server: &Loopback) -> Arc<dyn ModelSession> {
    Arc::new(OpenAiSession::builder(server.base_url()).api(Api::Responses).build().unwrap())
}

fn body(server: &Loopback, place: usize) -> Value {
    serde_json::from_str(&server.seen()[place].body).unwrap()
}

/// Nothing of what others sealed or signed.
fn holds_nothing_of(body: &Value, others: &[&str]) {
    let text = body.to_string();
    for other in others {
        assert!(!text.contains(other), "{other} in {text}");
    }
}

#[tokio::test]
async fn each_vendor_gets_back_what_it_issued_however_often_others_served_meanwhile() {
    let a = Loopback::start(vec![
        first(1),
        no_quota(),
        first(2),
        no_quota(),
        no_quota(),
        first(3),
        first(4),
    ])
    .await;
    let b = Loopback::start(vec![second(1), no_quota(), second(2)]).await;
    let c = Loopback::start(vec![third()]).await;
    let signing = AnthropicSession::builder(b.base_url()).build().unwrap();
    let marking = GeminiSession::builder(c.base_url()).build().unwrap();
    let builder = Router::builder()
        .catalogue(catalogue(&["second", "third"]))
        .provider("first", responses(&a))
        .provider("second", Arc::new(signing))
        .provider("third", Arc::new(marking));
    asked(builder, 7).await;

    let last = body(&a, 6);
    let items = last["input"].as_array().unwrap();
    for number in 1..=3 {
        assert!(items.contains(&sealed(number)), "{number} is not what it was: {last}");
    }
    let calls = |kind: &str| -> Vec<String> {
        let of_kind = items.iter().filter(|item| item["type"] == kind);
        of_kind.map(|item| item["call_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(calls("function_call"), calls("function_call_output"), "each with its result");
    assert_eq!(calls("function_call").len(), 6);
    assert!(calls("function_call").contains(&"call_A-2".to_owned()), "{last}");
    let secrets_of_others = ["signed1", "signed2", "thought 1", "c2ln", "a thought of the third"];
    holds_nothing_of(&last, &secrets_of_others);

    let again = body(&b, 2);
    let thinking = json!({ "type": "thinking", "thinking": "thought 1", "signature": "signed1" });
    let messages = again["messages"].as_array().unwrap();
    let mut content = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    assert!(content.any(|block| *block == thinking), "{again}");
    assert!(again.to_string().contains("toolu_B1"), "{again}");
    for place in 0..3 {
        holds_nothing_of(&body(&b, place), &["sealed", "c2ln", "a thought of the third"]);
    }
    holds_nothing_of(&body(&c, 0), &["sealed", "signed", "thought 1"]);
}

#[tokio::test]
async fn ids_that_one_server_needs_are_met_there_and_are_what_they_were_elsewhere() {
    let a = Loopback::start(vec![first(1), no_quota(), first(2), first(3)]).await;
    let d = Loopback::start(vec![narrow()]).await;
    let profile = ServerProfile::of_base_url("https://api.mistral.ai/v1");
    let narrow = OpenAiSession::builder(d.base_url()).api(Api::Chat).server_profile(profile);
    let builder = Router::builder()
        .catalogue(catalogue(&["narrow"]))
        .provider("first", responses(&a))
        .provider("narrow", Arc::new(narrow.build().unwrap()));
    asked(builder, 4).await;
    let there = body(&d, 0);
    let messages = there["messages"].as_array().unwrap();
    let call = messages.iter().find_map(|message| message["tool_calls"][0]["id"].as_str()).unwrap();
    let result = messages.iter().find_map(|message| message["tool_call_id"].as_str()).unwrap();
    let is_narrow = call.len() == 9 && call.bytes().all(|byte| byte.is_ascii_alphanumeric());
    assert!(is_narrow && call == result, "{there}");
    let back = body(&a, 3);
    let items = back["input"].as_array().unwrap();
    let ids = items.iter().filter(|item| item["type"] == "function_call");
    let ids: Vec<_> = ids.map(|item| item["call_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["call_A-1", "D2n8dk31z", "call_A-2"]);
    assert!(items.contains(&sealed(1)) && items.contains(&sealed(2)), "{back}");
}
