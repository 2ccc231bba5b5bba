//! What each message and each option looks like in Chat Completions.

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

use super::{body, piece, tools};
use crate::{
    demands::Demands,
    features::{Feature, RefusedFeatures},
    history::elements,
    profile::{Api, MaxTokensField, Written},
    rehearsal::lenient,
    responses::Kept,
};

fn written() -> Written<'static> {
    Written {
        api: Api::Chat,
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

fn without(feature: Feature) -> Written<'static> {
    let refused = RefusedFeatures::default();
    refused.remember(feature);
    Written { features: refused.remaining(), ..written() }
}

fn messages(history: &[ModelMessage], written: &Written<'_>) -> Value {
    let history = Transcript::from(history.to_vec());
    let keys = written.encoding_keys();
    let encode = |message: &_, place| piece(message, place, written);
    let elements = elements(&history, 0, &keys, encode);
    let mut list = b"[".to_vec();
    elements.write(&mut list);
    list.push(b']');
    serde_json::from_slice(&list).expect("a list of messages")
}

fn check(what: &str, role: ModelRole, content: Vec<ModelContent>, expected: Value) {
    let message = ModelMessage { role, content };
    assert_eq!(messages(&[message], &written()), expected, "{what}");
}

fn text(text: &str) -> ModelContent {
    ModelContent::text(text)
}

fn call(id: &str, arguments: Value) -> ModelContent {
    ModelContent::ToolUse { id: id.into(), name: "f".into(), arguments }
}

fn result(id: &str, content: &str) -> ModelContent {
    ModelContent::ToolResult {
        tool_use_id: id.into(),
        name: "f".into(),
        content: content.into(),
        failed: true,
    }
}

fn reasoning(issuer: &str, opaque: Value) -> ModelContent {
    ModelContent::Reasoning { issuer: issuer.into(), text: "thought".into(), opaque }
}

fn picture() -> ModelContent {
    let (media_type, base64) = ("image/png".into(), "QUJD".into());
    ModelContent::Image { source: ImageSource::Inline { media_type, base64 } }
}

fn sent_call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}})
}

#[test]
fn texts_of_every_role() {
    check(
        "system",
        ModelRole::System,
        vec![text("be")],
        json!([{"role": "system", "content": "be"}]),
    );
    let both = vec![text("a"), text(""), text("b")];
    check("user", ModelRole::User, both.clone(), json!([{"role": "user", "content": "a\n\nb"}]));
    let joined = json!([{"role": "assistant", "content": "ab"}]);
    check("assistant", ModelRole::Assistant, both, joined);
    for role in [ModelRole::System, ModelRole::User, ModelRole::Assistant, ModelRole::Tool] {
        check("nothing", role, vec![text("")], json!([]));
    }
}

#[test]
fn calls_have_objects_for_arguments_and_results_follow() {
    let calls = vec![text("hm"), call("a", json!({"p": 1})), call("b", json!("{p: 1}"))];
    let expected = json!([{
        "role": "assistant",
        "content": "hm",
        "tool_calls": [sent_call("a", r#"{"p":1}"#), sent_call("b", r#"{"unparsed_arguments":"{p: 1}"}"#)],
    }]);
    check("calls", ModelRole::Assistant, calls, expected);
    let only =
        json!([{"role": "assistant", "content": null, "tool_calls": [sent_call("a", "{}")]}]);
    check("a call alone", ModelRole::Assistant, vec![call("a", json!({}))], only);
    let results = json!([
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": ""},
    ]);
    check("results", ModelRole::Tool, vec![result("a", "one"), result("b", "")], results);
}

#[test]
fn f5_pictures_of_results_follow_the_last_result_of_the_turn() {
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}});
    let asked = json!([{"role": "user", "content": [{"type": "text", "text": "what"}, url]}]);
    check("asked", ModelRole::User, vec![text("what"), picture()], asked);
    let linked = ModelContent::Image { source: ImageSource::Url { url: "https://x/y".into() } };
    let part = json!({"type": "image_url", "image_url": {"url": "https://x/y"}});
    check("linked", ModelRole::User, vec![linked], json!([{"role": "user", "content": [part]}]));
    let tool = |content| ModelMessage { role: ModelRole::Tool, content };
    let turn = [
        tool(vec![result("a", "one"), picture()]),
        tool(vec![result("b", "two")]),
        ModelMessage::text(ModelRole::Assistant, "ok"),
    ];
    let expected = json!([
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "two"},
        {"role": "user", "content": [url]},
        {"role": "assistant", "content": "ok"},
    ]);
    assert_eq!(messages(&turn, &written()), expected);
}

#[test]
fn d2_reasoning_goes_back_to_its_issuer_with_the_calls() {
    let own = reasoning("me", json!({"reasoning_content": "thought", "unknown": 1}));
    let turn = |first: ModelContent| {
        let content = vec![first, call("a", json!({}))];
        [ModelMessage { role: ModelRole::Assistant, content }]
    };
    let plain = json!({"role": "assistant", "content": null, "tool_calls": [sent_call("a", "{}")]});
    let mut replayed = plain.clone();
    replayed["reasoning_content"] = json!("thought");
    assert_eq!(messages(&turn(own.clone()), &written()), json!([replayed]));
    let foreign = reasoning("you", json!({"reasoning_content": "thought"}));
    assert_eq!(messages(&turn(foreign), &written()), json!([plain]));
    let refused = without(Feature::ReasoningReplay);
    assert_eq!(messages(&turn(own.clone()), &refused), json!([plain]));
    let answer = json!([{"role": "assistant", "content": "hi"}]);
    check("without calls", ModelRole::Assistant, vec![own.clone(), text("hi")], answer);
    check("alone", ModelRole::Assistant, vec![own], json!([]));
}

#[test]
fn a13_signatures_go_back_with_their_calls() {
    let signature = json!({"google": {"thought_signature": "SIG"}});
    let extra = |issuer| reasoning(issuer, json!({"tool_call_extra_content": signature}));
    let content = vec![call("a", json!({})), extra("me"), call("b", json!({}))];
    let mut signed = sent_call("b", "{}");
    signed["extra_content"] = signature.clone();
    let calls = json!([sent_call("a", "{}"), signed]);
    let expected = json!([{"role": "assistant", "content": null, "tool_calls": calls}]);
    check("its own", ModelRole::Assistant, content, expected);
    let foreign = vec![extra("you"), call("a", json!({}))];
    let calls = json!([sent_call("a", "{}")]);
    let expected = json!([{"role": "assistant", "content": null, "tool_calls": calls}]);
    check("foreign", ModelRole::Assistant, foreign, expected);
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
fn what_is_not_asked_is_not_sent() {
    let expected = json!({
        "model": "m",
        "messages": [],
        "max_tokens": 9,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    assert_eq!(sent(&request(GenerationOptions::default(), false), &written()), expected);
}

#[test]
fn every_option_is_sent() {
    let options = GenerationOptions {
        temperature: Some(0.5),
        stop: vec!["end".into()],
        tool_choice: ToolChoice::Named { name: "f".into() },
        response_format: ResponseFormat::JsonSchema {
            name: "s".into(),
            schema: json!({"type": "object"}),
            strict: true,
        },
        reasoning_effort: Some("low".into()),
    };
    let sent = sent(&request(options, true), &written());
    assert_eq!(sent["temperature"], 0.5);
    assert_eq!(sent["stop"], json!(["end"]));
    assert_eq!(sent["reasoning_effort"], "low");
    assert_eq!(sent["tool_choice"], json!({"type": "function", "function": {"name": "f"}}));
    let function = json!({"name": "f", "description": "does", "parameters": {"type": "object"}});
    assert_eq!(sent["tools"], json!([{"type": "function", "function": function}]));
    let schema = json!({"name": "s", "schema": {"type": "object"}, "strict": true});
    let format = json!({"type": "json_schema", "json_schema": schema});
    assert_eq!(sent["response_format"], format);
}

#[test]
fn c9_f2_refused_parts_are_left_out() {
    let request = request(GenerationOptions::default(), false);
    let no_options = sent(&request, &without(Feature::StreamOptions));
    assert_eq!(no_options["stream_options"], Value::Null);
    let renamed = sent(&request, &without(Feature::MaxTokensName));
    assert_eq!(
        (&renamed["max_tokens"], &renamed["max_completion_tokens"]),
        (&json!(null), &json!(9))
    );
    let whole = sent(&request, &Written { delivery: Delivery::Whole, ..written() });
    assert_eq!((&whole["stream"], &whole["stream_options"]), (&json!(null), &json!(null)));
}

#[test]
fn several_system_messages_at_the_front_are_sent_as_one() {
    let system = |said: &str| ModelMessage::text(ModelRole::System, said);
    let user = ModelMessage::text(ModelRole::User, "go");
    let sent = messages(&[system("be kind"), system("of this folder"), user], &written());
    let one = json!({"role": "system", "content": "be kind\n\nof this folder"});
    assert_eq!(sent, json!([one, {"role": "user", "content": "go"}]));
}
