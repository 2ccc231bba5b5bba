//! What becomes of arguments before a tool sees them.

use std::sync::Arc;

use runtime_ports::{CommitDisposition, ToolReply};
use serde_json::{Value, json};

use crate::stage::{Acting, call, error_of, host, operation};

/// The code that the arguments come to, and the error; or what the tool was given.
async fn given(arguments: Value) -> Result<Value, (String, String)> {
    let tool = Acting::giving("read", Ok(ToolReply::text("ok"))).schema(json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "lines": { "type": "integer" } },
        "additionalProperties": false
    }));
    let calls = Arc::clone(&tool.calls);
    let served = host([tool]).execute(&operation(), call("read", arguments), 1).await;
    let reached = calls.lock().expect("calls").pop();
    if served.ok {
        return Ok(reached.expect("the tool was called").arguments);
    }
    assert!(reached.is_none(), "the tool never sees bad arguments");
    assert_eq!(served.commit, Some(CommitDisposition::NotCommitted));
    let error = error_of(&served);
    Err((served.error_code.expect("a code"), error))
}

/// Field complaint 12: a tool without arguments is called with nothing at all.
#[tokio::test]
async fn nothing_at_all_stands_for_no_arguments() {
    for nothing in [json!(null), json!(""), json!("  "), json!({})] {
        assert_eq!(given(nothing.clone()).await, Ok(json!({})), "{nothing}");
    }
}

/// Field complaint 12: anything else that is no object is refused with feedback.
#[tokio::test]
async fn what_is_no_object_is_refused_with_feedback() {
    for wrong in [json!(5), json!("x"), json!([]), json!(true), json!("{\"path\":\"a\"}")] {
        let (code, error) = given(wrong.clone()).await.expect_err(&wrong.to_string());
        assert_eq!(code, "invalid_arguments_payload", "{wrong}");
        assert_eq!(
            error,
            "arguments must be a JSON object, write them as one; nothing was changed"
        );
    }
}

#[tokio::test]
async fn what_does_not_follow_the_schema_is_refused_with_the_path() {
    let cases = [
        (json!({ "path": 7 }), "argument /path must be a string; nothing was changed"),
        (json!({ "lines": "7" }), "argument /lines must be an integer; nothing was changed"),
        (json!({ "file": "a" }), "argument /file is not known, leave it out; nothing was changed"),
    ];
    for (arguments, expected) in cases {
        let (code, error) = given(arguments.clone()).await.expect_err(&arguments.to_string());
        assert_eq!((code.as_str(), error.as_str()), ("invalid_arguments_type", expected));
    }
}

#[tokio::test]
async fn a_refusal_repeats_no_more_than_a_path() {
    let key = "k".repeat(100_000);
    let (_, error) = given(json!({ key: "v".repeat(100_000) })).await.expect_err("unknown key");
    assert!(error.len() < 300, "{} bytes", error.len());
}

#[tokio::test]
async fn arguments_that_follow_the_schema_reach_the_tool_unchanged() {
    let arguments = json!({ "path": "a.md", "lines": 3 });
    assert_eq!(given(arguments.clone()).await, Ok(arguments));
}

/// A host that asks before it runs must not ask about what cannot run.
#[tokio::test]
async fn a_call_can_be_checked_without_running_it() {
    let tool = Acting::giving("read", Ok(ToolReply::text("ok"))).schema(json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "additionalProperties": false
    }));
    let calls = Arc::clone(&tool.calls);
    let host = host([tool]);
    let good = call("read", json!({ "path": "a" }));
    assert_eq!(host.check(&good).expect("it can run").definition.name, "read");
    for bad in [call("gone", json!({})), call("read", json!({})), call("read", json!([]))] {
        let told = *host.check(&bad).expect_err("it cannot run");
        assert_eq!(told, host.execute(&operation(), bad, 1).await);
    }
    assert!(calls.lock().expect("calls").is_empty(), "checking runs nothing");
}
