//! Holds the bound on nesting to what a stored transcript can be read back with.

use runtime_ports::{
    ModelContent, ModelFinish, ModelMessage, ModelResponse, ModelRole, TokenUsage, Transcript,
};
use serde_json::{Value, json};

use super::{DEEPEST, bounded};

fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, level| match level % 2 {
        0 => Value::Array(vec![inner]),
        _ => json!({ "": inner }),
    })
}

fn after(arguments: Value) -> Vec<ModelContent> {
    let call = |arguments| ModelContent::ToolUse { id: "a".into(), name: "t".into(), arguments };
    let output = vec![
        call(arguments.clone()),
        ModelContent::Reasoning { issuer: "i".into(), text: "t".into(), opaque: arguments },
    ];
    let (finish, usage) = (ModelFinish::ToolCalls, TokenUsage::default());
    let response = ModelResponse { output, finish, usage, cost_nano_usd: None, attempts: vec![] };
    bounded(response).output
}

#[test]
fn what_passes_can_be_stored_and_read_back() {
    let output = after(nested(DEEPEST));
    let [ModelContent::ToolUse { arguments, .. }, _] = &output[..] else { panic!("{output:?}") };
    assert_eq!(*arguments, nested(DEEPEST));
    let message = ModelMessage { role: ModelRole::Assistant, content: output };
    let transcript: Transcript = [message].into_iter().collect();
    let stored = serde_json::to_string(&json!({ "record": [transcript] })).unwrap();
    assert!(serde_json::from_str::<Value>(&stored).is_ok());
}

#[test]
fn what_is_deeper_becomes_text() {
    let output = after(nested(DEEPEST + 1));
    let [ModelContent::ToolUse { arguments, .. }, ModelContent::Reasoning { opaque, .. }] =
        &output[..]
    else {
        panic!("{output:?}")
    };
    assert!(arguments.is_string() && opaque.is_null());
}
