//! Decides whether every message is read again as it was, and whether it is written in little.

use runtime_ports::{ImageSource, ModelContent, ModelMessage, ModelRole, Transcript};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Stored(#[serde(with = "super")] Transcript);

fn check(role: ModelRole, content: Vec<ModelContent>, written: &str) {
    let history = Transcript::from(vec![ModelMessage { role, content }]);
    let text = serde_json::to_string(&Stored(history.clone())).expect("a history is JSON");
    assert_eq!(text, format!("[{written}]"));
    let read: Stored = serde_json::from_str(&text).expect("what was written");
    assert_eq!(read.0, history);
}

fn result(failed: bool) -> ModelContent {
    let (tool_use_id, name, content) = ("c1".to_owned(), "look".to_owned(), "a\nb".to_owned());
    ModelContent::ToolResult { tool_use_id, name, content, failed }
}

fn call(arguments: Value) -> ModelContent {
    let (id, name) = ("c1".to_owned(), "look".to_owned());
    ModelContent::ToolUse { id, name, arguments }
}

#[test]
fn messages_are_written_in_little_and_read_again() {
    let text = || vec![ModelContent::text("Grüße")];
    check(ModelRole::System, text(), r#"{"system":["Grüße"]}"#);
    check(ModelRole::User, text(), r#"{"user":["Grüße"]}"#);
    check(ModelRole::Assistant, Vec::new(), r#"{"assistant":[]}"#);
    check(ModelRole::Tool, vec![result(false)], r#"{"tool":[["c1","look","a\nb"]]}"#);
    let arguments = json!({ "big": u64::MAX, "small": i64::MIN, "part": 0.1, "list": [[null]] });
    check(
        ModelRole::Assistant,
        vec![call(json!({})), call(arguments)],
        r#"{"assistant":[["c1","look",{}],["c1","look",{"big":18446744073709551615,"list":[[null]],"part":0.1,"small":-9223372036854775808}]]}"#,
    );
    check(
        ModelRole::Tool,
        vec![result(true)],
        r#"{"tool":[{"type":"tool_result","tool_use_id":"c1","name":"look","content":"a\nb","failed":true}]}"#,
    );
}

#[test]
fn everything_else_is_written_as_it_always_is() {
    let call = call(json!("{\"cut"));
    let url = "https://example.org/a.png".to_owned();
    let image = ModelContent::Image { source: ImageSource::Url { url } };
    let (issuer, opaque) = ("someone".to_owned(), json!(["a", "b", "c"]));
    let reasoning = ModelContent::Reasoning { issuer, text: String::new(), opaque };
    for item in [call, image, reasoning] {
        let always = serde_json::to_string(&item).expect("content is JSON");
        check(ModelRole::Assistant, vec![item], &format!(r#"{{"assistant":[{always}]}}"#));
    }
}

#[test]
fn what_is_no_message_is_refused() {
    for text in [
        r#"[{"robot":[]}]"#,
        r#"[{"tool":[["c1","look"]]}]"#,
        r#"[{"tool":[["c1","look",[]]]}]"#,
        r#"[{"user":[1]}]"#,
        "[[]]",
    ] {
        assert!(serde_json::from_str::<Stored>(text).is_err(), "{text}");
    }
}
