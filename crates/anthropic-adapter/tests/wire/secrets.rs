//! That the key and the payload stay out of everything that is shown, and go to one server only.

use anthropic_adapter::{AnthropicSession, BuildError};
use runtime_types::CredentialHandle;
use wire_rehearsal::loopback::{Act, Loopback, chunk, events, json, reply, stream, stream_head};

use crate::{KEY, ask, builder, session};

/// Everything that a server could echo the key and the prompt in.
fn echoes() -> Vec<Vec<Act>> {
    let echo = format!("{KEY} prompt-canary");
    let body = format!(
        r#"{{"type":"error","error":{{"message":"{echo}","type":"{KEY}"}},"request_id":"{KEY}"}}"#
    );
    let headers = [("request-id", KEY), ("retry-after", KEY)];
    let statuses = ["400 B", "401 U", "403 F", "404 N", "413 R", "429 T", "500 I", "529 O"];
    let refusals = statuses.map(|status| vec![Act::Send(reply(status, &headers, &body))]);
    let mut acts = refusals.to_vec();
    let page = format!("<html>{echo}</html>");
    acts.push(vec![Act::Send(reply("502 B", &headers, &page))]);
    acts.push(vec![Act::Send(reply("200 OK", &headers, &page))]);
    acts.push(vec![Act::Send(reply("302 F", &[("location", &format!("/{KEY}"))], &echo))]);
    acts.push(stream(&events(&[&body])));
    acts.push(stream(&events(&[format!("no json {echo}")])));
    let begun = format!(r#"{{"type":"message_start","message":{{"id":"{KEY}"}}}}"#);
    let event = chunk(&events(&[begun]));
    acts.push(vec![Act::Send(stream_head(&headers)), Act::Send(event.clone()), Act::Close]);
    acts.push(vec![Act::Send(stream_head(&[])), Act::Send(event), Act::Close]);
    acts.push(vec![Act::Close]);
    acts
}

#[tokio::test]
async fn no_failure_shows_the_key_or_the_prompt() {
    for acts in echoes() {
        let name = format!("{acts:?}");
        let server = Loopback::start(vec![acts]).await;
        let session = session(&server);
        let failure = ask(&session).await.expect_err(&name);
        let serialised = serde_json::to_string(&failure).expect("failures serialise");
        let shown = format!("{failure} {failure:?} {serialised} {session:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert!(!shown.contains("prompt-canary"), "{shown}");
    }
}

#[tokio::test]
async fn no_builder_and_no_session_shows_the_key() {
    let builder = AnthropicSession::builder("http://127.0.0.1:1")
        .credential(CredentialHandle::new(KEY))
        .header("x-secret", KEY);
    assert!(!format!("{builder:?}").contains(KEY));
    let session = builder.build().expect("a session");
    assert!(!format!("{session:?}").contains(KEY));
    let refused = AnthropicSession::builder("http://example.com")
        .credential(CredentialHandle::new(KEY))
        .build()
        .expect_err("a key in the clear");
    assert_eq!(refused, BuildError::PlaintextCredential);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    let elsewhere = Loopback::start(vec![json("200 OK", "{}")]).await;
    for status in ["301 M", "302 F", "307 T", "308 P"] {
        let to = reply(status, &[("location", &elsewhere.base_url())], "");
        let server = Loopback::start(vec![vec![Act::Send(to)]]).await;
        let failure = ask(&session(&server)).await.expect_err(status);
        assert_eq!(failure.code, "REDIRECT_REFUSED");
    }
    assert_eq!(elsewhere.connections(), 0);
}

async fn head_of(session: impl FnOnce(&Loopback) -> AnthropicSession) -> String {
    let server = Loopback::start(vec![json("200 OK", "{}")]).await;
    let _ = ask(&session(&server)).await;
    server.seen()[0].head.to_lowercase()
}

fn has(head: &str, line: &str) -> bool {
    head.lines().any(|held| held == line)
}

#[tokio::test]
async fn headers_carry_what_the_api_wants() {
    let head = head_of(session).await;
    for line in [
        "post /v1/messages http/1.1",
        &format!("x-api-key: {KEY}"),
        "anthropic-version: 2023-06-01",
        "content-type: application/json",
    ] {
        assert!(has(&head, line), "{line} is not in {head}");
    }
    assert!(!head.contains("anthropic-beta") && !head.contains("authorization"), "{head}");
    assert!(!head.contains("transfer-encoding"), "the length is known: {head}");
}

#[tokio::test]
async fn headers_carry_what_was_configured() {
    let head = head_of(|server| {
        let builder = builder(server).beta("one-2025-01-01").beta("two-2025-02-02");
        let builder = builder.header("anthropic-version", "2024-01-01").header("x-title", "t");
        builder.bearer().build().expect("a session")
    });
    let head = head.await;
    for line in [
        "anthropic-beta: one-2025-01-01,two-2025-02-02",
        "anthropic-version: 2024-01-01",
        &format!("authorization: bearer {KEY}"),
        "x-title: t",
    ] {
        assert!(has(&head, line), "{line} is not in {head}");
    }
    assert!(!head.contains("x-api-key") && !head.contains("2023-06-01"), "{head}");
    let head = head_of(|server| builder(server).key_header("api-key").build().expect("a session"));
    assert!(has(&head.await, &format!("api-key: {KEY}")));
}
