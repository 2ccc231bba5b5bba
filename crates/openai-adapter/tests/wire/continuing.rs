//! Responses that the server keeps and that are continued: what is sent, and what happens when the
//! server does not have them (E13, and complaint 5: each item is sent once).

use std::time::Duration;

use openai_adapter::{Api, OpenAiSession};
use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole, ModelSession,
    ModelToolDefinition, PortFailure, ToolSet, Transcript,
};
use serde_json::{Value, json};
use wire_rehearsal::loopback::{Act, Loopback, events, json as document, stream};

use crate::{builder, operation, request};

/// A response that calls `f`, in which everything has an id of this number.
fn answer(number: usize) -> Vec<Act> {
    let arguments = format!("{{\"n\":{number}}}");
    let thought = json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": [],
        "encrypted_content": format!("z{number}")});
    let call = json!({"type": "function_call", "id": format!("fc_{number}"),
        "call_id": format!("call_{number}"), "name": "f", "arguments": arguments});
    kept(&format!("resp_{number}"), json!([thought, call]))
}

fn kept(id: &str, output: Value) -> Vec<Act> {
    let response = json!({"id": id, "status": "completed", "store": true, "output": output});
    let event = json!({"type": "response.completed", "response": response});
    stream(&events(&[event.to_string()]))
}

fn text(id: &str, said: &str) -> Vec<Act> {
    let part = json!({"type": "output_text", "text": said});
    kept(id, json!([{"type": "message", "id": "m", "role": "assistant", "content": [part]}]))
}

fn session(server: &Loopback) -> OpenAiSession {
    let builder = builder(server).api(Api::Responses).continue_responses();
    builder.build().expect("a session")
}

async fn ask(session: &OpenAiSession, messages: &Transcript) -> Result<ModelResponse, PortFailure> {
    let tool = ModelToolDefinition {
        name: "f".into(),
        description: "does".into(),
        input_schema: json!({"type": "object"}),
    };
    let request =
        ModelRequest { messages: messages.clone(), tools: ToolSet::new(vec![tool]), ..request() };
    session.invoke(&operation(Duration::from_secs(20)), request).await
}

fn asked(text: &str) -> Transcript {
    let system = ModelMessage::text(ModelRole::System, "be kind");
    Transcript::from(vec![system, ModelMessage::text(ModelRole::User, text)])
}

/// Takes an answer into the history, and the results of its calls.
fn take(messages: &mut Transcript, response: &ModelResponse) {
    let content = response.output.clone();
    let results: Vec<ModelMessage> = content
        .iter()
        .filter_map(|item| match item {
            ModelContent::ToolUse { id, name, .. } => Some(ModelContent::ToolResult {
                tool_use_id: id.clone(),
                name: name.clone(),
                content: format!("result of {id}"),
                failed: false,
            }),
            _ => None,
        })
        .map(|result| ModelMessage { role: ModelRole::Tool, content: vec![result] })
        .collect();
    messages.push(ModelMessage { role: ModelRole::Assistant, content });
    messages.extend(results);
}

fn bodies(server: &Loopback) -> Vec<Value> {
    let seen = server.seen().into_iter();
    seen.map(|request| serde_json::from_str(&request.body).expect("json")).collect()
}

/// `previous_response_id`, and how many items the input has.
fn lines(server: &Loopback) -> Vec<String> {
    let line = |body: &Value| {
        let previous = body["previous_response_id"].as_str().unwrap_or("-");
        format!("{previous} {}", body["input"].as_array().map_or(0, Vec::len))
    };
    bodies(server).iter().map(line).collect()
}

#[tokio::test]
async fn e13_a_conversation_sends_only_what_is_new() {
    const CYCLES: usize = 40;
    let server = Loopback::start((0..CYCLES).map(answer).collect()).await;
    let (session, mut messages) = (session(&server), asked(&"long ".repeat(2_000)));
    for _ in 0..CYCLES {
        let response = ask(&session, &messages).await.expect("an answer");
        take(&mut messages, &response);
    }
    let bodies = bodies(&server);
    let sizes: Vec<usize> = server.seen().iter().map(|request| request.body.len()).collect();
    assert!(sizes[0] > 10_000 && sizes[1..].iter().all(|size| *size < 700), "{sizes:?}");
    assert!(bodies.iter().all(|body| body["store"] == true));
    assert!(bodies.iter().all(|body| body["tools"][0]["name"] == "f"), "tools are not inherited");
    for (number, body) in bodies.iter().enumerate().skip(1) {
        let id = format!("call_{}", number - 1);
        assert_eq!(body["previous_response_id"], format!("resp_{}", number - 1));
        let result = json!({"type": "function_call_output", "call_id": id,
            "output": format!("result of {id}")});
        assert_eq!(body["input"], json!([result]), "complaint 5: each item is sent once");
    }
}

#[tokio::test]
async fn e13_branches_and_parallel_runs_go_on_from_what_they_share() {
    let replies = vec![text("r1", "a"), text("r2", "left"), text("r3", "right"), text("r4", "end")];
    let server = Loopback::start(replies).await;
    let (session, mut shared) = (session(&server), asked("q"));
    let response = ask(&session, &shared).await.expect("an answer");
    take(&mut shared, &response);
    let branch = |said: &str| {
        let mut branch = shared.clone();
        branch.push(ModelMessage::text(ModelRole::User, said));
        branch
    };
    let (left, right) = (branch("one"), branch("two"));
    let (first, second) = tokio::join!(ask(&session, &left), ask(&session, &right));
    let (first, second) = (first.expect("an answer"), second.expect("an answer"));
    let mut left = left;
    take(&mut left, &first);
    left.push(ModelMessage::text(ModelRole::User, "more"));
    ask(&session, &left).await.expect("an answer");
    let lines = lines(&server);
    assert_eq!(&lines[..3], ["- 2", "r1 1", "r1 1"]);
    let told = |response: &ModelResponse| response.output == [ModelContent::text("left")];
    let of_left = if told(&first) { "r2 1" } else { "r3 1" };
    assert_eq!(lines[3], of_left);
    assert_ne!(told(&first), told(&second));
}

#[tokio::test]
async fn e13_a_history_that_was_changed_is_sent_whole() {
    let server = Loopback::start(vec![text("r1", "a"), text("r2", "b")]).await;
    let session = session(&server);
    ask(&session, &asked("q")).await.expect("an answer");
    let summary = ModelMessage::text(ModelRole::User, "what happened so far");
    let compacted: Transcript = vec![summary, ModelMessage::text(ModelRole::User, "go on")].into();
    ask(&session, &compacted).await.expect("an answer");
    assert_eq!(lines(&server), ["- 2", "- 2"]);
}

#[tokio::test]
async fn e13_what_the_server_does_not_have_is_sent_whole_and_both_are_listed() {
    let refusals = [
        ("404 Not Found", r#"{"error":{"message":"Previous response with id 'r1' not found."}}"#),
        ("400 Bad Request", r#"{"error":{"code":"previous_response_not_found","message":"m"}}"#),
        ("400 Bad Request", r#"{"error":{"message":"Invalid `previous_response_id`."}}"#),
        ("404 Not Found", "{}"),
        ("400 Bad Request", r#"{"error":{"message":"Unknown previous_response_id r1"}}"#),
        (
            "400 Bad Request",
            r#"{"error":{"message":"Unexpected 'r1'.","param":"previous_response_id"}}"#,
        ),
        (
            "400 Bad Request",
            r#"{"error":{"message":"Unsupported value: previous response expired"}}"#,
        ),
    ];
    for (status, body) in refusals {
        let replies =
            vec![text("r1", "a"), document(status, body), text("r2", "b"), text("r3", "c")];
        let server = Loopback::start(replies).await;
        let (session, mut messages) = (session(&server), asked("q"));
        for _ in 0..3 {
            let response = ask(&session, &messages).await.expect(body);
            let again = usize::from(messages.len() == 4);
            assert_eq!(response.attempts.len(), 1 + again, "{body}");
            take(&mut messages, &response);
            messages.push(ModelMessage::text(ModelRole::User, "more"));
        }
        assert_eq!(lines(&server), ["- 2", "r1 1", "- 4", "r2 1"], "{body}");
    }
}

#[tokio::test]
async fn e13_a_server_that_knows_no_such_thing_is_not_asked_again() {
    let refusals = [
        r#"{"error":{"message":"Unsupported parameter: previous_response_id"}}"#,
        r#"{"error":{"message":"Unknown field `previous_response_id`"}}"#,
        r#"{"detail":[{"loc":["body","previous_response_id"],"msg":"Extra inputs are not permitted"}]}"#,
    ];
    for no in refusals {
        let no_field = document("400 Bad Request", no);
        let replies = vec![text("r1", "a"), no_field, text("r2", "b"), text("r3", "c")];
        let server = Loopback::start(replies).await;
        let (session, mut messages) = (session(&server), asked("q"));
        for _ in 0..3 {
            let response = ask(&session, &messages).await.expect("an answer");
            take(&mut messages, &response);
            messages.push(ModelMessage::text(ModelRole::User, "more"));
        }
        assert_eq!(lines(&server), ["- 2", "r1 1", "- 4", "- 6"], "{no}");
        assert_eq!(bodies(&server)[3]["store"], false, "nothing is kept for nothing");
    }
}

/// An answer for which the server says that it read so many tokens, and not from where it went on.
fn counting(id: &str, input_tokens: u64) -> Value {
    let usage = json!({"input_tokens": input_tokens, "output_tokens": 1});
    let said = json!([{"type": "message", "id": "m", "role": "assistant",
        "content": [{"type": "output_text", "text": "hi"}]}]);
    json!({"type": "response.completed", "response": {"id": id, "output": said, "usage": usage}})
}

/// A server that answers `first`, then `second` to what goes on from it, then `r3`.
async fn continued(first: Vec<Act>, second: &[Value]) -> (Loopback, OpenAiSession, Transcript) {
    let second: Vec<String> = second.iter().map(Value::to_string).collect();
    let second: Vec<&str> = second.iter().map(String::as_str).collect();
    let server = Loopback::start(vec![first, stream(&events(&second)), text("r3", "b")]).await;
    let (session, mut messages) = (session(&server), asked("q"));
    let response = ask(&session, &messages).await.expect("an answer");
    take(&mut messages, &response);
    messages.push(ModelMessage::text(ModelRole::User, "more"));
    (server, session, messages)
}

fn denying(kind: &str) -> Value {
    json!({"type": kind, "response": {"id": "r2", "previous_response_id": null}})
}

#[tokio::test]
async fn e13_a_server_that_goes_on_from_nothing_gets_the_whole_at_once() {
    let counted = || stream(&events(&[counting("r1", 100).to_string()]));
    let cases = [
        ("it says so", text("r1", "a"), denying("response.created")),
        ("its counts say so", counted(), counting("r2", 20)),
    ];
    for (name, first, second) in cases {
        let (server, session, messages) = continued(first, &[second]).await;
        let response = ask(&session, &messages).await.expect(name);
        assert_eq!((response.output, response.attempts.len()), (vec![ModelContent::text("b")], 2));
        assert_eq!(lines(&server), ["- 2", "r1 1", "- 4"], "{name}");
        assert_eq!(bodies(&server)[2]["store"], false, "{name}: it is not asked again");
    }
}

#[tokio::test]
async fn e13_what_was_shown_of_an_answer_to_a_part_is_a_failure() {
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "h"});
    let end = denying("response.completed");
    let (server, session, messages) = continued(text("r1", "a"), &[delta, end]).await;
    let failure = ask(&session, &messages).await.expect_err("it went on from nothing");
    assert_eq!(
        (failure.code.as_str(), failure.attempts.len()),
        ("PREVIOUS_RESPONSE_IGNORED_AMID", 1)
    );
    ask(&session, &messages).await.expect("the whole conversation");
    assert_eq!(lines(&server), ["- 2", "r1 1", "- 4"]);
}

#[tokio::test]
async fn e13_who_says_nothing_and_reads_enough_goes_on() {
    let first = stream(&events(&[counting("r1", 100).to_string()]));
    let (server, session, messages) = continued(first, &[counting("r2", 90)]).await;
    let response = ask(&session, &messages).await.expect("an answer");
    assert_eq!(response.attempts.len(), 1);
    assert_eq!(lines(&server), ["- 2", "r1 1"]);
    let mut said = counting("r2", 20);
    said["response"]["previous_response_id"] = json!("r1");
    let first = stream(&events(&[counting("r1", 100).to_string()]));
    let (_server, session, messages) = continued(first, &[said]).await;
    ask(&session, &messages).await.expect("it says that it goes on");
}

#[tokio::test]
async fn e13_only_what_is_kept_as_it_was_told_is_continued() {
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let twice = json!([call("a"), {"type": "function_call", "call_id": "a", "name": "g", "arguments": "{}"}]);
    let unkept = json!({"type": "response.completed",
        "response": {"id": "r1", "store": false, "output": [call("a")]}});
    let cut = json!({"type": "response.incomplete", "response": {"id": "r1", "output": [call("a")],
        "incomplete_details": {"reason": "max_output_tokens"}}});
    let cases = [
        ("a call that got another id", kept("r1", twice)),
        ("a response that is not kept", stream(&events(&[unkept.to_string()]))),
        ("a cut one", stream(&events(&[cut.to_string()]))),
    ];
    for (name, first) in cases {
        let server = Loopback::start(vec![first, text("r2", "b")]).await;
        let (session, mut messages) = (session(&server), asked("q"));
        let response = ask(&session, &messages).await.expect(name);
        take(&mut messages, &response);
        messages.push(ModelMessage::text(ModelRole::User, "more"));
        ask(&session, &messages).await.expect(name);
        assert!(lines(&server)[1].starts_with("- "), "{name}: {:?}", lines(&server));
    }
}

#[tokio::test]
async fn e13_without_being_told_to_nothing_is_kept() {
    let server = Loopback::start(vec![text("r1", "a"), text("r2", "b")]).await;
    let session = builder(&server).api(Api::Responses).build().expect("a session");
    let mut messages = asked("q");
    for _ in 0..2 {
        let response = ask(&session, &messages).await.expect("an answer");
        take(&mut messages, &response);
        messages.push(ModelMessage::text(ModelRole::User, "more"));
    }
    assert_eq!(lines(&server), ["- 2", "- 4"]);
    assert!(bodies(&server).iter().all(|body| body["store"] == false));
}
