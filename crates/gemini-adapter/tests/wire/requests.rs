//! Where a request goes and what it says, and which are never sent.

use std::{sync::Arc, time::Duration};

use gemini_adapter::{Delivery, GeminiSession};
use runtime_ports::{
    GenerationOptions, ModelMessage, ModelRequest, ModelRole, ModelSession, PortFailureKind,
    ToolChoice, Transcript,
};
use wire_rehearsal::{
    loopback::{Act, Loopback, json},
    rules::again,
};

use crate::{KEY, SHORT, ask, builder, line, operation, request, session, subject::Asking, text};

/// The first line of the request that `session` sends for a model of this name.
async fn address(server: &Loopback, session: &GeminiSession, model: &str) -> String {
    let asked = ModelRequest { model: model.into(), ..request() };
    let _ = session.invoke(&operation(Duration::from_secs(20)), asked).await;
    let seen = server.seen();
    let head = seen.last().map(|request| request.head.clone()).unwrap_or_default();
    head.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_request_goes_to_the_method_of_its_model() {
    let server = Loopback::start(vec![json("200 OK", "{}"); 4]).await;
    let session = session(&server);
    let streamed = |model: &str| format!("POST /v1/{model}:streamGenerateContent?alt=sse HTTP/1.1");
    assert_eq!(address(&server, &session, "gemini-x").await, streamed("models/gemini-x"));
    assert_eq!(address(&server, &session, "models/gemini-x").await, streamed("models/gemini-x"));
    assert_eq!(address(&server, &session, "tunedModels/a").await, streamed("tunedModels/a"));
    let whole = builder(&server).delivery(Delivery::Whole).build().expect("a session");
    let expected = "POST /v1/models/gemini-x:generateContent HTTP/1.1";
    assert_eq!(address(&server, &whole, "gemini-x").await, expected);
}

#[tokio::test]
async fn headers_carry_the_key_and_the_address_does_not() {
    let server = Loopback::start(vec![json("200 OK", "{}")]).await;
    let session = builder(&server).header("x-title", "t").build().expect("a session");
    let _ = ask(&session).await;
    let head = server.seen()[0].head.to_lowercase();
    for line in [&format!("x-goog-api-key: {KEY}"), "x-title: t", "content-type: application/json"]
    {
        assert!(head.lines().any(|held| held == line), "{line} is not in {head}");
    }
    assert!(!head.lines().next().unwrap_or_default().contains(KEY), "{head}");
    assert!(!head.contains("authorization") && !head.contains("transfer-encoding"), "{head}");
}

#[tokio::test]
async fn an_answer_that_comes_as_a_list_is_read_whole() {
    let list = r#"[{"candidates":[{"content":{"parts":[{"text":"hel"}]}}]},
        {"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}],"responseId":"r-7"}]"#;
    let server = Loopback::start(vec![json("200 OK", list)]).await;
    let response = ask(&session(&server)).await.expect("an answer");
    assert_eq!(text(&response), "hello");
    assert_eq!(response.attempts[0].provider_request_id.as_deref(), Some("r-7"));
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let server = Loopback::start(vec![]).await;
    let session = session(&server);
    let option = |options| ModelRequest { options: Arc::new(options), ..request() };
    let none = GenerationOptions::default;
    let said = |messages: Vec<ModelMessage>| ModelRequest {
        messages: Transcript::from(messages),
        ..request()
    };
    let cases = [
        ("nan", option(GenerationOptions { temperature: Some(f64::NAN), ..none() })),
        ("no tools", option(GenerationOptions { tool_choice: ToolChoice::Required, ..none() })),
        ("six stops", option(GenerationOptions { stop: vec!["s".into(); 6], ..none() })),
        ("effort", option(GenerationOptions { reasoning_effort: Some("most".into()), ..none() })),
        ("a model", ModelRequest { model: "m?x".into(), ..request() }),
        ("no message", said(vec![])),
        ("instructions alone", said(vec![ModelMessage::text(ModelRole::System, "be")])),
        ("an empty message", said(vec![ModelMessage::text(ModelRole::User, "")])),
    ];
    for (what, asked) in cases {
        let answered = session.invoke(&operation(SHORT), asked).await;
        assert_eq!(line(&answered), "Invalid INVALID_REQUEST not committed []", "{what}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn nothing_is_sent_twice() {
    let replies = vec![
        json("400 Bad Request", r#"{"error":{"message":"unknown field thinkingConfig"}}"#),
        json("429 Too Many Requests", r#"[{"error":{"status":"RESOURCE_EXHAUSTED"}}]"#),
        json("500 Internal Server Error", r#"{"error":{"status":"INTERNAL"}}"#),
        json("503 Service Unavailable", r#"{"error":{"status":"UNAVAILABLE"}}"#),
        vec![Act::Close],
    ];
    again::nothing_else_is_sent_twice(&Asking(Delivery::Streamed), replies).await;
}

#[tokio::test]
async fn models_are_listed_page_by_page() {
    let first = r#"{"models":[{"name":"models/a"}],"nextPageToken":"more"}"#;
    let second = r#"{"models":[{"name":"models/b"}]}"#;
    let missing = json("404 Not Found", "{}");
    let pages = vec![json("200 OK", first), json("200 OK", second), missing, vec![Act::Hang]];
    let server = Loopback::start(pages).await;
    let session = session(&server);
    let within = operation(Duration::from_secs(20));
    assert_eq!(session.list_models(&within).await, Ok(vec!["a".to_owned(), "b".to_owned()]));
    let seen = server.seen();
    assert!(seen[0].head.starts_with("GET /v1/models?pageSize=1000 HTTP/1.1"));
    assert!(seen[1].head.starts_with("GET /v1/models?pageSize=1000&pageToken=more HTTP/1.1"));
    let failure = session.list_models(&within).await.expect_err("no list");
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    let failure = session.list_models(&within).await.expect_err("silence");
    assert_eq!(failure.kind, PortFailureKind::Timeout);
}
