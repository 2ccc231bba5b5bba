//! What each message looks like as parts.

use model_wire::pieces::split;
use runtime_ports::{ImageSource, ModelContent, ModelMessage, ModelRole};
use serde_json::{Value, json};

use super::{FOREIGN_CALL, Written, piece};

const OLDER: Written<'static> = Written { issuer: "me", signed_calls: false, call_ids: true };
const NEWER: Written<'static> = Written { issuer: "me", signed_calls: true, call_ids: true };

/// The parts of a message, and those that wait for the last result of its turn.
fn parts(written: &Written<'_>, role: ModelRole, content: Vec<ModelContent>) -> (Value, Value) {
    let bytes = piece(&ModelMessage { role, content }, written);
    let list = |bytes: &[u8]| {
        let list = [b"[", bytes, b"]"].concat();
        serde_json::from_slice(&list).expect("a list of parts")
    };
    let (elements, deferred) = split(&bytes);
    (list(elements), list(deferred))
}

fn check(what: &str, written: &Written<'_>, content: Vec<ModelContent>, expected: Value) {
    let (parts, deferred) = parts(written, ModelRole::Assistant, content);
    assert_eq!((parts, deferred), (expected, json!([])), "{what}");
}

fn text(text: &str) -> ModelContent {
    ModelContent::text(text)
}

fn call(id: &str, arguments: Value) -> ModelContent {
    ModelContent::ToolUse { id: id.into(), name: "f".into(), arguments }
}

fn kept(issuer: &str, text: &str, opaque: Value) -> ModelContent {
    ModelContent::Reasoning { issuer: issuer.into(), text: text.into(), opaque }
}

fn signed(kind: &str) -> Value {
    json!({"thoughtSignature": "s1", "on": kind})
}

fn called(id: &str) -> Value {
    json!({"functionCall": {"id": id, "name": "f", "args": {"p": 1}}})
}

fn called_with(id: &str, signature: &str) -> Value {
    let mut part = called(id);
    part["thoughtSignature"] = signature.into();
    part
}

#[test]
fn texts_and_pictures_are_parts_and_nothing_is_none() {
    let inline = ImageSource::Inline { media_type: "image/png".into(), base64: "AA==".into() };
    let url = |url: &str| ModelContent::Image { source: ImageSource::Url { url: url.into() } };
    let content = vec![
        text("what"),
        text(""),
        ModelContent::Image { source: inline },
        url("https://x/y.JPG?z"),
        url("https://x/y"),
    ];
    let expected = json!([
        {"text": "what"},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        {"fileData": {"fileUri": "https://x/y.JPG?z", "mimeType": "image/jpeg"}},
        {"fileData": {"fileUri": "https://x/y"}},
    ]);
    assert_eq!(parts(&OLDER, ModelRole::User, content), (expected, json!([])));
    for role in [ModelRole::System, ModelRole::User, ModelRole::Assistant, ModelRole::Tool] {
        assert_eq!(parts(&OLDER, role, vec![text("")]), (json!([]), json!([])));
    }
}

#[test]
fn results_say_whether_they_failed_and_everything_else_waits() {
    let result = |id: &str, failed| ModelContent::ToolResult {
        tool_use_id: id.into(),
        name: "f".into(),
        content: "said".into(),
        failed,
    };
    let response = |id: &str, key: &str| json!({"functionResponse": {"id": id, "name": "f", "response": {key: "said"}}});
    let content = vec![result("a", false), text("meanwhile"), result("b", true)];
    let expected = json!([response("a", "output"), response("b", "error")]);
    assert_eq!(parts(&OLDER, ModelRole::Tool, content), (expected, json!([{"text": "meanwhile"}])));
}

#[test]
fn arguments_are_an_object_whatever_the_model_wrote() {
    let expected = json!([{"functionCall":
        {"id": "a", "name": "f", "args": {"unparsed_arguments": "{p"}}}]);
    check("raw text", &OLDER, vec![call("a", json!("{p"))], expected);
}

#[test]
fn a_signature_goes_back_on_the_part_that_it_came_with() {
    let own = |kind: &str| kept("me", "thought", signed(kind));
    let (a, b) = (|| call("a", json!({"p": 1})), || call("b", json!({"p": 1})));
    let expected = json!([called_with("a", "s1"), called("b")]);
    check("on a call", &OLDER, vec![own("functionCall"), a(), b()], expected.clone());
    check("on a call of a newer model", &NEWER, vec![own("functionCall"), a(), b()], expected);
    let expected = json!([{"text": "hi", "thoughtSignature": "s1"}, {"text": "more"}]);
    check("on a text", &OLDER, vec![own("text"), text("hi"), text("more")], expected);
    let expected = json!([called("a"), called_with("b", "s1")]);
    check("on a later call", &OLDER, vec![a(), own("functionCall"), b()], expected);
    check("of another piece", &OLDER, vec![own("text"), a()], json!([called("a")]));
    check("of nothing", &OLDER, vec![text("hi"), own("functionCall")], json!([{"text": "hi"}]));
}

#[test]
fn whole_parts_go_back_as_they_came_and_thoughts_do_not() {
    let code = json!({"executableCode": {"language": "PYTHON", "code": "1"}});
    let own = |part: &Value| kept("me", "shown", json!({ "part": part }));
    check("code", &OLDER, vec![own(&code), text("so")], json!([code, {"text": "so"}]));
    let empty = json!({"text": "", "thoughtSignature": "s2"});
    check(
        "a bare signature",
        &OLDER,
        vec![text("so"), own(&empty)],
        json!([{"text": "so"}, empty]),
    );
    check(
        "a thought",
        &OLDER,
        vec![kept("me", "hm", Value::Null), text("so")],
        json!([{"text": "so"}]),
    );
}

#[test]
fn what_others_left_is_not_sent_and_their_calls_bear_what_the_vendor_documents() {
    let a = || call("a", json!({"p": 1}));
    let foreign = |opaque: Value| kept("you", "thought", opaque);
    let history = || vec![foreign(signed("functionCall")), a(), call("b", json!({"p": 1}))];
    check("older", &OLDER, history(), json!([called("a"), called("b")]));
    let expected = json!([called_with("a", FOREIGN_CALL), called("b")]);
    check("newer", &NEWER, history(), expected.clone());
    check("no reasoning at all", &NEWER, vec![a(), call("b", json!({"p": 1}))], expected);
    let part = foreign(json!({"part": {"executableCode": {}}}));
    check("a part", &NEWER, vec![part, text("so")], json!([{"text": "so"}]));
    let chat = kept("me", "", json!({"reasoning_content": "of another api"}));
    check("another shape", &NEWER, vec![chat, text("so")], json!([{"text": "so"}]));
}

/// Endpoints of older models refuse the field; their results follow the order of the calls.
#[test]
fn where_ids_are_unknown_none_is_written() {
    let bare = Written { call_ids: false, ..OLDER };
    let expected = json!([{"functionCall": {"name": "f", "args": {"p": 1}}}]);
    check("a call", &bare, vec![call("a", json!({"p": 1}))], expected);
    let result = ModelContent::ToolResult {
        tool_use_id: "a".into(),
        name: "f".into(),
        content: "said".into(),
        failed: false,
    };
    let expected = json!([{"functionResponse": {"name": "f", "response": {"output": "said"}}}]);
    assert_eq!(parts(&bare, ModelRole::Tool, vec![result]), (expected, json!([])));
    assert_ne!(bare.encoding_key(), OLDER.encoding_key());
}
