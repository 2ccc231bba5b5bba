//! Decides whether a run that goes to another vendor and comes back keeps what belongs to whom, over
//! real adapters and real bytes.

use std::{sync::Arc, time::Duration};

use anthropic_adapter::AnthropicSession;
use in_memory_fakes::FakeReceiptStore;
use openai_adapter::{Api, OpenAiSession};
use router_adapter::{Catalogue, Router};
use runtime_ports::{
    ModelMessage, ModelRequest, ModelRole, ModelSession, OperationContext, ToolSet, Transcript,
};
use serde_json::{Value, json};
use uuid::Uuid;
use wire_rehearsal::loopback::{Act, Loopback};

const CATALOGUE: &str = r#"
    [[models]]
    id = "thinker"
    provider = "first"
    provider_model = "thinker-1"
    context_window_tokens = 100_000
    max_input_tokens = 90_000
    price = { input = 1_000_000_000, output = 1_000_000_000 }
    fallbacks = ["stand-in"]

    [[models]]
    id = "stand-in"
    provider = "second"
    provider_model = "stand-in-1"
    context_window_tokens = 100_000
    max_input_tokens = 90_000
    max_output_tokens = 1_000
    price = { input = 5_000_000_000, output = 5_000_000_000 }
"#;

fn events(events: &[Value]) -> Vec<Act> {
    let frame = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    let body: String = events.iter().map(frame).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let reply = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    vec![Act::Send(reply.into_bytes())]
}

/// An answer of the Responses API whose reasoning is sealed.
fn sealed(number: usize) -> Vec<Act> {
    let sealed = format!("sealed-{number}");
    let reasoning = json!({
        "type": "reasoning", "id": format!("rs_{number}"), "summary": [], "encrypted_content": sealed,
    });
    let text =
        json!({ "type": "output_text", "text": format!("answer {number}"), "annotations": [] });
    let message = json!({
        "type": "message", "id": format!("msg_{number}"), "role": "assistant",
        "status": "completed", "content": [text],
    });
    let usage = json!({ "input_tokens": 10, "output_tokens": 2 });
    let response = json!({ "id": "resp", "status": "completed", "output": [], "usage": usage });
    events(&[
        json!({ "type": "response.output_item.done", "output_index": 0, "item": reasoning }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": message }),
        json!({ "type": "response.completed", "response": response }),
    ])
}

/// An answer of the Messages API whose thinking is signed.
fn signed() -> Vec<Act> {
    let usage = json!({ "input_tokens": 20, "output_tokens": 1 });
    let message = json!({
        "id": "msg", "type": "message", "role": "assistant", "model": "stand-in-1", "content": [],
        "stop_reason": null, "usage": usage,
    });
    let thinking = json!({ "type": "thinking", "thinking": "", "signature": "" });
    let delta = |delta: Value, index: u32| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let text = json!({ "type": "text", "text": "" });
    events(&[
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": thinking }),
        delta(json!({ "type": "thinking_delta", "thinking": "foreign thought" }), 0),
        delta(json!({ "type": "signature_delta", "signature": "signed-by-second" }), 0),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": text }),
        delta(json!({ "type": "text_delta", "text": "answer of the stand-in" }), 1),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({
            "type": "message_delta", "delta": { "stop_reason": "end_turn" },
            "usage": { "output_tokens": 4 },
        }),
        json!({ "type": "message_stop" }),
    ])
}

fn no_quota() -> Vec<Act> {
    let error = json!({ "error": { "code": "insufficient_quota", "message": "pay first" } });
    let body = error.to_string();
    let head = "HTTP/1.1 429 No\r\ncontent-type: application/json\r\n";
    let reply = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    vec![Act::Send(reply.into_bytes())]
}

async fn ask(session: &dyn ModelSession, history: &mut Transcript) {
    let id = Uuid::new_v4();
    let operation = OperationContext::root(id.into(), id.into(), Duration::from_secs(30));
    history.push(ModelMessage::text(ModelRole::User, "go on"));
    let request = ModelRequest {
        invocation_id: "run-1".into(),
        model: "thinker".into(),
        messages: history.clone(),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    };
    let content = session.invoke(&operation, request).await.unwrap().output;
    history.push(ModelMessage { role: ModelRole::Assistant, content });
}

#[tokio::test]
async fn sealed_reasoning_comes_back_to_its_vendor_after_another_has_served() {
    let mut replies: Vec<_> = (0..4).map(sealed).collect();
    replies.extend([no_quota(), sealed(5)]);
    let (first, second) = (Loopback::start(replies).await, Loopback::start(vec![signed()]).await);
    let thinker = OpenAiSession::builder(first.base_url()).api(Api::Responses).build().unwrap();
    let stand_in = AnthropicSession::builder(second.base_url()).build().unwrap();
    let store = FakeReceiptStore::new();
    let router = Router::builder()
        .catalogue(Catalogue::parse(CATALOGUE).unwrap())
        .provider("first", Arc::new(thinker))
        .provider("second", Arc::new(stand_in))
        .receipts(Arc::new(store.clone()))
        .start()
        .await
        .unwrap();
    let session = router.session("ada", None);
    let mut history = Transcript::new();
    for _ in 0..6 {
        ask(session.as_ref(), &mut history).await;
    }
    let [foreign] = &second.seen()[..] else { panic!("one request to the second") };
    assert!(foreign.body.contains("answer 3") && !foreign.body.contains("sealed"), "{foreign:?}");
    let asked = first.seen();
    let back = &asked.last().unwrap().body;
    for number in 0..4 {
        assert!(back.contains(&format!("sealed-{number}")), "{number} does not come back: {back}");
    }
    assert!(back.contains("answer of the stand-in"), "{back}");
    assert!(!back.contains("foreign thought") && !back.contains("signed-by-second"), "{back}");
    let receipts = store.settled();
    let moved = &receipts[4];
    assert_eq!((moved.provider.as_str(), moved.requests.len()), ("second", 2));
    assert_eq!(moved.requests[1].cost_nano_usd, Some(24 * 5_000), "at the price of who served");
    let losses = moved.losses.join("; ");
    assert!(losses.contains("4 pieces of reasoning by "), "{losses}");
    assert!(losses.contains("left out for stand-in-1 at second"), "{losses}");
    let back = receipts[5].losses.join("; ");
    assert!(back.contains("1 piece of reasoning by "), "{back}");
}
