//! What the head of a request says.

use openai_adapter::OpenAiSession;
use runtime_types::CredentialHandle;
use wire_rehearsal::loopback::{Loopback, json};

use crate::{KEY, ask, builder};

#[tokio::test]
async fn headers_carry_what_was_configured() {
    let server = Loopback::start(vec![json("200 OK", "{}")]).await;
    let session = builder(&server).organization("org-1").project("proj-1").header("x-title", "t");
    let _ = ask(&session.build().expect("a session")).await;
    let head = server.seen()[0].head.to_lowercase();
    for line in [
        "post /v1/chat/completions http/1.1",
        &format!("authorization: bearer {KEY}"),
        "openai-organization: org-1",
        "openai-project: proj-1",
        "x-title: t",
        "content-type: application/json",
    ] {
        assert!(head.lines().any(|held| held == line), "{line} is not in {head}");
    }
    assert!(!head.contains("transfer-encoding"), "the length is known: {head}");
}

#[tokio::test]
async fn f9_a_key_header_and_a_query_of_ones_own() {
    let server = Loopback::start(vec![json("200 OK", "{}")]).await;
    let session = OpenAiSession::builder(format!("{}/d?api-version=2", server.base_url()))
        .credential(CredentialHandle::new(KEY))
        .key_header("api-key")
        .build()
        .expect("a session");
    let _ = ask(&session).await;
    let head = server.seen()[0].head.clone();
    assert!(head.starts_with("POST /v1/d/chat/completions?api-version=2 HTTP/1.1"), "{head}");
    assert!(head.contains(&format!("api-key: {KEY}")) && !head.contains("authorization"), "{head}");
}
