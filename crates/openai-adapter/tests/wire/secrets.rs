//! That the key and the payload stay out of everything that is shown, and go to one server only.

use openai_adapter::{Api, BuildError, OpenAiSession};
use runtime_types::CredentialHandle;
use wire_rehearsal::loopback::{Act, Loopback, chunk, events, json, reply, stream, stream_head};

use crate::{KEY, ask, builder};

/// Everything that a server could echo the key and the prompt in.
fn echoes() -> Vec<Vec<Act>> {
    let echo = format!("{KEY} prompt-canary");
    let body = format!(
        r#"{{"error":{{"message":"{echo}","code":"{KEY}","type":"{KEY}","param":"{KEY}"}}}}"#
    );
    let headers = [("x-request-id", KEY), ("retry-after", KEY)];
    let mut acts: Vec<Vec<Act>> = ["400 B", "401 U", "403 F", "404 N", "429 T", "500 I", "503 S"]
        .into_iter()
        .map(|status| vec![Act::Send(reply(status, &headers, &body))])
        .collect();
    let page = format!("<html>{echo}</html>");
    acts.push(vec![Act::Send(reply("502 B", &headers, &page))]);
    acts.push(vec![Act::Send(reply("200 OK", &headers, &page))]);
    acts.push(vec![Act::Send(reply("302 F", &[("location", &format!("/{KEY}"))], &echo))]);
    acts.push(stream(&events(&[&body])));
    acts.push(stream(&events(&[format!("no json {echo}")])));
    let event = chunk(&events(&[format!(r#"{{"id":"{KEY}","choices":[]}}"#)]));
    acts.push(vec![Act::Send(stream_head(&headers)), Act::Send(event.clone()), Act::Close]);
    acts.push(vec![Act::Send(stream_head(&[])), Act::Send(event), Act::Close]);
    acts.push(vec![Act::Close]);
    acts
}

#[tokio::test]
async fn no_failure_shows_the_key_or_the_prompt() {
    for api in [Api::Chat, Api::Responses] {
        for acts in echoes() {
            let name = format!("{acts:?}");
            let server = Loopback::start(vec![acts]).await;
            let session = builder(&server).api(api).build().expect("a session");
            let failure = ask(&session).await.expect_err(&name);
            let serialised = serde_json::to_string(&failure).expect("failures serialise");
            let shown = format!("{failure} {failure:?} {serialised} {session:?}");
            assert!(!shown.contains(KEY), "{shown}");
            assert!(!shown.contains("prompt-canary"), "{shown}");
        }
    }
}

#[tokio::test]
async fn no_builder_and_no_session_shows_the_key() {
    let builder = OpenAiSession::builder("http://127.0.0.1:1")
        .credential(CredentialHandle::new(KEY))
        .header("x-secret", KEY);
    assert!(!format!("{builder:?}").contains(KEY));
    let session = builder.build().expect("a session");
    assert!(!format!("{session:?}").contains(KEY));
    let refused = OpenAiSession::builder("http://example.com")
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
        let failure = ask(&builder(&server).build().expect("a session")).await.expect_err(status);
        assert_eq!(failure.code, "REDIRECT_REFUSED");
    }
    assert_eq!(elsewhere.connections(), 0);
}

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
