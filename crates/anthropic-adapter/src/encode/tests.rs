//! What each message looks like as content blocks.

use model_wire::pieces::split;
use runtime_ports::{ImageSource, ModelContent, ModelMessage, ModelRole};
use serde_json::{Value, json};

use super::{Replay, piece, system_piece};

fn blocks(role: ModelRole, content: Vec<ModelContent>) -> (Value, Value) {
    let bytes = piece(&ModelMessage { role, content }, Replay::Of("me"));
    let list = |bytes: &[u8]| {
        serde_json::from_slice(&[b"[", bytes, b"]"].concat()).expect("a list of blocks")
    };
    let (results, others) = split(&bytes);
    (list(results), list(others))
}

fn check(what: &str, role: ModelRole, content: Vec<ModelContent>, expected: Value) {
    assert_eq!(blocks(role, content), (json!([]), expected), "{what}");
}

fn text(text: &str) -> ModelContent {
    ModelContent::text(text)
}

fn call(id: &str, arguments: Value) -> ModelContent {
    ModelContent::ToolUse { id: id.into(), name: "f".into(), arguments }
}

fn result(id: &str, content: &str, failed: bool) -> ModelContent {
    let (tool_use_id, name) = (id.into(), "f".into());
    ModelContent::ToolResult { tool_use_id, name, content: content.into(), failed }
}

fn picture() -> ModelContent {
    ModelContent::Image { source: ImageSource::Url { url: "https://x/y.png".into() } }
}

fn reasoning(issuer: &str, opaque: Value) -> ModelContent {
    ModelContent::Reasoning { issuer: issuer.into(), text: "thought".into(), opaque }
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn shown() -> Value {
    json!({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}})
}

fn signed() -> Value {
    json!({"type": "thinking", "thinking": "thought", "signature": "s"})
}

#[test]
fn texts_and_pictures_of_a_user() {
    check("text", ModelRole::User, vec![text("a"), text("b")], json!([said("a"), said("b")]));
    check("nothing", ModelRole::User, vec![text(""), text(" \n")], json!([]));
    check("picture", ModelRole::User, vec![text("see"), picture()], json!([said("see"), shown()]));
    let source = ImageSource::Inline { media_type: "image/png".into(), base64: "aGk=".into() };
    let inline = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
    let inline = json!([{"type": "image", "source": inline}]);
    check("inline", ModelRole::User, vec![ModelContent::Image { source }], inline);
}

#[test]
fn the_application_in_the_middle_of_a_conversation_speaks_in_its_place() {
    let wrapped = json!([said("<system_message>\na\n\nb\n</system_message>"), shown()]);
    check("late", ModelRole::System, vec![text("a"), picture(), text("b")], wrapped);
    check("empty", ModelRole::System, vec![text(" ")], json!([]));
    let front =
        ModelMessage { role: ModelRole::System, content: vec![text("a"), text(""), text("b")] };
    let expected = r#"{"text":"a","type":"text"},{"text":"b","type":"text"}"#;
    assert_eq!(String::from_utf8(system_piece(&front)).expect("text"), expected);
}

#[test]
fn results_with_their_pictures() {
    let answered =
        |content: Value| json!([{"type": "tool_result", "tool_use_id": "a", "content": content}]);
    let one = blocks(ModelRole::Tool, vec![result("a", "one", false)]);
    assert_eq!(one, (answered(json!("one")), json!([])));
    let seen = blocks(ModelRole::Tool, vec![result("a", "one", false), picture(), picture()]);
    assert_eq!(seen, (answered(json!([said("one"), shown(), shown()])), json!([])));
    let silent = blocks(ModelRole::Tool, vec![result("a", "", false), picture()]);
    assert_eq!(silent, (answered(json!([shown()])), json!([])));
    let failed =
        json!([{"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": true}]);
    let beside = blocks(ModelRole::Tool, vec![result("a", "no", true), picture()]);
    assert_eq!(beside, (failed, json!([shown()])), "a failure takes text alone");
    let empty = json!([{"type": "tool_result", "tool_use_id": "a"}]);
    assert_eq!(blocks(ModelRole::Tool, vec![result("a", "", false)]), (empty, json!([])));
    let spoken = blocks(ModelRole::User, vec![text("and"), result("a", "one", false)]);
    assert_eq!(spoken, (answered(json!("one")), json!([said("and")])), "results stand apart");
}

#[test]
fn calls_keep_their_ids_and_have_objects_as_input() {
    let used =
        |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "f", "input": input});
    let calls = vec![call("toolu_1", json!({"p": 1})), call("b", json!("no json"))];
    let wrapped = used("b", json!({"unparsed_arguments": "no json"}));
    check("calls", ModelRole::Assistant, calls, json!([used("toolu_1", json!({"p": 1})), wrapped]));
    let foreign = "call|fc.1";
    let (_, called) = blocks(ModelRole::Assistant, vec![call(foreign, json!({}))]);
    let (answered, _) = blocks(ModelRole::Tool, vec![result(foreign, "one", false)]);
    assert_eq!(called[0]["id"], answered[0]["tool_use_id"], "a result still finds its call");
    assert_ne!(called[0]["id"], json!(foreign));
}

#[test]
fn reasoning_goes_back_signed_to_its_issuer_and_in_its_place() {
    let redacted = || json!({"type": "redacted_thinking", "data": "x"});
    let own = |opaque: Value| reasoning("me", opaque);
    let turn = vec![own(redacted()), own(signed()), text("hi"), call("a", json!({}))];
    let used = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    let expected = json!([redacted(), signed(), said("hi"), used]);
    check("own", ModelRole::Assistant, turn, expected);
    let between = vec![text("hi"), own(signed()), call("a", json!({}))];
    check("between", ModelRole::Assistant, between, json!([said("hi"), signed(), used]));
    let unsigned = [
        json!({"type": "thinking", "thinking": "thought"}),
        json!({"type": "thinking", "thinking": "thought", "signature": ""}),
        json!({"type": "redacted_thinking"}),
        json!({"reasoning_content": "thought"}),
        Value::Null,
    ];
    for opaque in unsigned {
        let what = opaque.to_string();
        check(&what, ModelRole::Assistant, vec![own(opaque), text("hi")], json!([said("hi")]));
    }
    let foreign = vec![reasoning("you", signed()), text("hi")];
    check("foreign", ModelRole::Assistant, foreign, json!([said("hi")]));
    let last = vec![text("hi"), own(signed()), own(redacted())];
    check("at the end", ModelRole::Assistant, last, json!([said("hi")]));
    check("alone", ModelRole::Assistant, vec![own(signed())], json!([]));
    let searched = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    check("others", ModelRole::Assistant, vec![own(searched.clone())], json!([searched]));
}

#[test]
fn reasoning_that_the_server_refused_stays_out() {
    let content = vec![reasoning("me", signed()), text("hi")];
    let message = ModelMessage { role: ModelRole::Assistant, content };
    let bytes = piece(&message, Replay::Nothing);
    assert_eq!(split(&bytes).1, br#"{"text":"hi","type":"text"}"#);
}

#[test]
fn a_turn_of_the_model_does_not_end_with_white_space() {
    check(
        "end",
        ModelRole::Assistant,
        vec![text("a "), text("b \n")],
        json!([said("a "), said("b")]),
    );
    let used = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    let before = vec![text("a "), call("a", json!({}))];
    check("before a call", ModelRole::Assistant, before, json!([said("a "), used]));
    check("nothing else", ModelRole::Assistant, vec![text(" \n")], json!([]));
}
