//! What each message and each option looks like in Responses.

use std::sync::Arc;

use model_wire::{
    Delivery,
    pieces::{Elements, encoded},
};
use runtime_ports::{
    GenerationOptions, ImageSource, ModelContent, ModelMessage, ModelRequest, ModelRole,
    ModelToolDefinition, ResponseFormat, ToolChoice, ToolSet, Transcript,
};
use serde_json::{Value, json};

use super::{Kept, body, piece, tools};
use crate::{
    demands::Demands,
    features::{Feature, RefusedFeatures},
    history::elements,
    profile::{Api, MaxTokensField, Written},
    rehearsal::lenient,
};

fn written() -> Written<'static> {
    Written {
        api: Api::Responses,
        delivery: Delivery::Streamed,
        issuer: "me",
        max_tokens: MaxTokensField::MaxTokens,
        reasoning_summary: None,
        features: RefusedFeatures::default().remaining(),
        server: lenient(),
        one_call: false,
        kept: Kept::Nothing,
    }
}

fn input(history: &[ModelMessage]) -> Value {
    let (history, written) = (Transcript::from(history.to_vec()), written());
    let encode = |message: &_, place| piece(message, place, &written);
    let elements = elements(&history, 0, &written.encoding_keys(), encode);
    let mut list = b"[".to_vec();
    elements.write(&mut list);
    list.push(b']');
    serde_json::from_slice(&list).expect("a list of items")
}

fn check(what: &str, role: ModelRole, content: Vec<ModelContent>, expected: Value) {
    assert_eq!(input(&[ModelMessage { role, content }]), expected, "{what}");
}

fn text(text: &str) -> ModelContent {
    ModelContent::text(text)
}

fn call(id: &str) -> ModelContent {
    ModelContent::ToolUse { id: id.into(), name: "f".into(), arguments: json!({"p": 1}) }
}

fn reasoning(issuer: &str, opaque: Value) -> ModelContent {
    ModelContent::Reasoning { issuer: issuer.into(), text: "thought".into(), opaque }
}

fn said(text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"type": "message", "role": "assistant", "content": [part]})
}

fn called(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{\"p\":1}"})
}

#[test]
fn texts_results_and_pictures() {
    let message =
        |role: &str, content: Value| json!({"type": "message", "role": role, "content": content});
    let system = json!([message("system", json!("be"))]);
    check("system", ModelRole::System, vec![text("be")], system);
    let picture = ModelContent::Image { source: ImageSource::Url { url: "https://x/y".into() } };
    let image = json!({"type": "input_image", "detail": "auto", "image_url": "https://x/y"});
    let asked = json!([{"type": "input_text", "text": "what"}, image]);
    let expected = json!([message("user", asked)]);
    check("picture", ModelRole::User, vec![text("what"), picture.clone()], expected);
    let result = ModelContent::ToolResult {
        tool_use_id: "a".into(),
        name: "f".into(),
        content: "one".into(),
        failed: false,
    };
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "one"});
    let expected = json!([output, message("user", json!([image]))]);
    check("a pictured result", ModelRole::Tool, vec![result, picture], expected);
    for role in [ModelRole::System, ModelRole::User, ModelRole::Assistant, ModelRole::Tool] {
        check("nothing", role, vec![text("")], json!([]));
    }
}

#[test]
fn e11_calls_stand_last_unless_reasoning_belongs_to_them() {
    let mixed = vec![call("a"), text("between"), call("b")];
    let expected = json!([said("between"), called("a"), called("b")]);
    check("without reasoning", ModelRole::Assistant, mixed, expected);
    let item =
        |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "z"});
    let own = |id: &str| reasoning("me", item(id));
    let mixed = vec![own("rs_1"), call("a"), own("rs_2"), text("between"), call("b")];
    let expected = json!([item("rs_1"), called("a"), item("rs_2"), said("between"), called("b")]);
    check("with reasoning", ModelRole::Assistant, mixed, expected);
}

#[test]
fn e8_reasoning_goes_back_verbatim_to_its_issuer_and_never_alone() {
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "z"});
    let own = reasoning("me", item.clone());
    check(
        "before a call",
        ModelRole::Assistant,
        vec![own.clone(), call("a")],
        json!([item, called("a")]),
    );
    let trailing = vec![text("hi"), own.clone()];
    check("after the last item", ModelRole::Assistant, trailing, json!([said("hi")]));
    check("alone", ModelRole::Assistant, vec![own], json!([]));
    let foreign = vec![reasoning("you", item), call("a")];
    check("foreign", ModelRole::Assistant, foreign, json!([called("a")]));
    let nothing = vec![reasoning("me", Value::Null), call("a")];
    check("nothing to send", ModelRole::Assistant, nothing, json!([called("a")]));
    let chat = vec![reasoning("me", json!({"reasoning_content": "x"})), call("a")];
    check("of the other api", ModelRole::Assistant, chat, json!([called("a")]));
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let unknown = vec![reasoning("me", search)];
    let sent = json!([{"type": "web_search_call", "id": "ws_1"}]);
    check("an item of another type", ModelRole::Assistant, unknown, sent);
}

fn request(options: GenerationOptions, with_tools: bool) -> ModelRequest {
    let tool = ModelToolDefinition {
        name: "f".into(),
        description: "does".into(),
        input_schema: json!({"type": "object"}),
    };
    ModelRequest {
        invocation_id: "i".into(),
        model: "m".into(),
        messages: Transcript::new(),
        tools: ToolSet::new(if with_tools { vec![tool] } else { vec![] }),
        max_output_tokens: Some(9),
        options: Arc::new(options),
    }
}

fn sent(request: &ModelRequest, written: &Written<'_>) -> Value {
    let tools = (!request.tools.is_empty()).then(|| encoded(&tools(&request.tools)).into());
    let demands = Demands::of(request, written).expect("demands that can be met");
    let body = body(request, &Elements::default(), tools, &demands, written);
    serde_json::from_slice(&body).expect("an object")
}

#[test]
fn nothing_is_stored_and_what_is_not_asked_is_not_sent() {
    let expected = json!({
        "model": "m",
        "input": [],
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 9,
        "stream": true,
    });
    let request = request(GenerationOptions::default(), false);
    assert_eq!(sent(&request, &written()), expected);
    let refused = RefusedFeatures::default();
    refused.remember(Feature::EncryptedReasoning);
    let without = Written { features: refused.remaining(), ..written() };
    assert_eq!(sent(&request, &without)["include"], Value::Null);
}

#[test]
fn every_option_is_sent() {
    let options = GenerationOptions {
        temperature: Some(0.5),
        stop: vec![],
        tool_choice: ToolChoice::Named { name: "f".into() },
        response_format: ResponseFormat::JsonSchema {
            name: "s".into(),
            schema: json!({"type": "object"}),
            strict: false,
        },
        reasoning_effort: Some("low".into()),
    };
    let written = Written { reasoning_summary: Some("auto"), ..written() };
    let sent = sent(&request(options, true), &written);
    assert_eq!(sent["temperature"], 0.5);
    assert_eq!(sent["reasoning"], json!({"effort": "low", "summary": "auto"}));
    assert_eq!(sent["tool_choice"], json!({"type": "function", "name": "f"}));
    let tool = json!({
        "type": "function", "name": "f", "description": "does",
        "parameters": {"type": "object"}, "strict": false,
    });
    assert_eq!(sent["tools"], json!([tool]));
    let format = json!({
        "type": "json_schema", "name": "s", "schema": {"type": "object"}, "strict": false,
    });
    assert_eq!(sent["text"], json!({"format": format}));
}
