//! What the head of a request says.

use anthropic_adapter::AnthropicSession;
use wire_rehearsal::loopback::{Loopback, json};

use crate::{KEY, ask, builder, session};

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
