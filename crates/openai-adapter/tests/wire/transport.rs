//! Connections that are not made, and what a server tells about itself.

use std::{sync::Arc, time::Duration};

use openai_adapter::Api;
use runtime_ports::{GenerationOptions, ModelRequest, ModelSession, PortFailureKind, ToolChoice};
use wire_rehearsal::loopback::{Act, Loopback, json};

use crate::{SHORT, ask, builder, line, operation, request, session};

/// The environment of a process cannot be changed safely, so that another one is asked.
#[test]
fn no_proxy_of_the_environment_is_used() {
    let this = std::env::current_exe().expect("a test knows its binary");
    let mut other = std::process::Command::new(this);
    other.args(["--exact", "chat::a_connection_is_used_again"]).env_remove("NO_PROXY");
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        other.env(name, "http://127.0.0.1:9");
    }
    let output = other.output().expect("the test runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let server = Loopback::start(vec![]).await;
    let asked = |options| ModelRequest { options: Arc::new(options), ..request() };
    let nan = GenerationOptions { temperature: Some(f64::NAN), ..GenerationOptions::default() };
    let forced =
        GenerationOptions { tool_choice: ToolChoice::Required, ..GenerationOptions::default() };
    let stop = GenerationOptions { stop: vec!["end".into()], ..GenerationOptions::default() };
    for (api, options) in [(Api::Chat, nan), (Api::Chat, forced), (Api::Responses, stop)] {
        let session = builder(&server).api(api).build().expect("a session");
        let answered = session.invoke(&operation(SHORT), asked(options)).await;
        assert_eq!(line(&answered), "Invalid INVALID_REQUEST not committed []");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn the_body_names_the_request_when_no_header_does() {
    let body = r#"{"id":"chatcmpl-7","choices":[{"message":{"content":"hi"}}]}"#;
    let server = Loopback::start(vec![json("200 OK", body)]).await;
    let response = ask(&session(&server)).await.expect("an answer");
    let name = response.attempts[0].provider_request_id.as_deref();
    assert_eq!(name, Some("chatcmpl-7"));
}

#[tokio::test]
async fn models_are_listed() {
    let list = json("200 OK", r#"{"data":[{"id":"a"},{"id":"b"}]}"#);
    let missing = json("404 Not Found", "{}");
    let server = Loopback::start(vec![list, missing, vec![Act::Hang]]).await;
    let session = session(&server);
    let within = operation(Duration::from_secs(20));
    assert_eq!(session.list_models(&within).await, Ok(vec!["a".to_owned(), "b".to_owned()]));
    assert!(server.seen()[0].head.starts_with("GET /v1/models HTTP/1.1"));
    let failure = session.list_models(&within).await.expect_err("no list");
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    let failure = session.list_models(&within).await.expect_err("silence");
    assert_eq!(failure.kind, PortFailureKind::Timeout);
}
