//! That the key and the payload stay out of everything that is shown, and go to one server only.

use openai_adapter::{Api, OpenAiSession, OpenAiSessionBuilder};
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
        r#"{{"error":{{"message":"{text}","code":"{KEY}","type":"{KEY}","param":"{KEY}"}}}}"#
    );
    let echo = Echo {
        statuses: vec!["400 B", "401 U", "403 F", "404 N", "429 T", "500 I", "503 S"],
        request_id: "x-request-id",
        refusal: error.clone(),
        error,
        begun: format!(r#"{{"id":"{KEY}","choices":[]}}"#),
    };
    echo.replies()
}

#[tokio::test]
async fn no_failure_shows_the_key_or_the_prompt() {
    for api in [Api::Chat, Api::Responses] {
        let session = |server: &Loopback| builder(server).api(api).build().expect("a session");
        stay_hidden(echoes(), session).await;
    }
}

#[tokio::test]
async fn no_builder_and_no_session_shows_the_key() {
    let keyed = |base_url| {
        OpenAiSession::builder(base_url)
            .credential(CredentialHandle::new(KEY))
            .header("x-secret", KEY)
    };
    builders_hide_the_key(keyed, OpenAiSessionBuilder::build);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    stay_here(session).await;
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
