//! That the key and the payload stay out of everything that is shown, and go to one server only.

use anthropic_adapter::{AnthropicSession, AnthropicSessionBuilder};
use runtime_types::CredentialHandle;
use wire_rehearsal::{
    loopback::{Act, Loopback, json},
    secrets::{Echo, builders_hide_the_key, stay_here, stay_hidden},
};

use crate::{KEY, ask, builder, session};

/// Everything that a server could echo the key and the prompt in.
fn echoes() -> Vec<Vec<Act>> {
    let text = Echo::text();
    let error = format!(
        r#"{{"type":"error","error":{{"message":"{text}","type":"{KEY}"}},"request_id":"{KEY}"}}"#
    );
    let echo = Echo {
        statuses: vec!["400 B", "401 U", "403 F", "404 N", "413 R", "429 T", "500 I", "529 O"],
        request_id: "request-id",
        refusal: error.clone(),
        error,
        begun: format!(r#"{{"type":"message_start","message":{{"id":"{KEY}"}}}}"#),
    };
    echo.replies()
}

#[tokio::test]
async fn no_failure_shows_the_key_or_the_prompt() {
    stay_hidden(echoes(), session).await;
}

#[tokio::test]
async fn no_builder_and_no_session_shows_the_key() {
    let keyed = |base_url| {
        AnthropicSession::builder(base_url)
            .credential(CredentialHandle::new(KEY))
            .header("x-secret", KEY)
    };
    builders_hide_the_key(keyed, AnthropicSessionBuilder::build);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    stay_here(session).await;
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
