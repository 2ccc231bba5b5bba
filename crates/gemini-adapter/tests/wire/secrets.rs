//! That the key and the payload stay out of everything that is shown, and go to one server only.

use gemini_adapter::{BuildError, Delivery, GeminiSession};
use runtime_types::CredentialHandle;
use wire_rehearsal::loopback::{Act, Loopback, chunk, events, json, reply, stream, stream_head};

use crate::{KEY, ask, builder};

/// Everything that a server could echo the key and the prompt in.
fn echoes() -> Vec<Vec<Act>> {
    let echo = format!("{KEY} prompt-canary");
    let details = format!(
        r#"[{{"reason":"{KEY}","retryDelay":"{echo}","violations":[{{"quotaId":"{echo}"}}]}}]"#
    );
    let error = format!(
        r#"{{"error":{{"message":"{echo}","code":"{KEY}","status":"{KEY}","details":{details}}}}}"#
    );
    let headers = [("x-request-id", KEY), ("retry-after", KEY)];
    let mut acts: Vec<Vec<Act>> = ["400 B", "401 U", "403 F", "404 N", "429 T", "500 I", "503 S"]
        .into_iter()
        .map(|status| vec![Act::Send(reply(status, &headers, &format!("[{error}]")))])
        .collect();
    let page = format!("<html>{echo}</html>");
    acts.push(vec![Act::Send(reply("502 B", &headers, &page))]);
    acts.push(vec![Act::Send(reply("200 OK", &headers, &page))]);
    acts.push(vec![Act::Send(reply("302 F", &[("location", &format!("/{KEY}"))], &echo))]);
    acts.push(stream(&events(&[&error])));
    acts.push(stream(&events(&[format!("no json {echo}")])));
    acts.push(stream(&events(&[format!(r#"{{"promptFeedback":{{"blockReason":"{KEY}"}}}}"#)])));
    let reason =
        r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"ECHO"}]}"#;
    acts.push(stream(&events(&[reason.replace("ECHO", &echo)])));
    let event = chunk(&events(&[format!(r#"{{"responseId":"{KEY}","candidates":[]}}"#)]));
    acts.push(vec![Act::Send(stream_head(&headers)), Act::Send(event.clone()), Act::Close]);
    acts.push(vec![Act::Send(stream_head(&[])), Act::Send(event), Act::Close]);
    acts.push(vec![Act::Close]);
    acts
}

#[tokio::test]
async fn no_failure_shows_the_key_or_the_prompt() {
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        for acts in echoes() {
            let name = format!("{acts:?}");
            let server = Loopback::start(vec![acts]).await;
            let session = builder(&server).delivery(delivery).build().expect("a session");
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
    let builder = GeminiSession::builder("http://127.0.0.1:1")
        .credential(CredentialHandle::new(KEY))
        .header("x-secret", KEY);
    assert!(!format!("{builder:?}").contains(KEY));
    let session = builder.build().expect("a session");
    assert!(!format!("{session:?}").contains(KEY));
    let refused = GeminiSession::builder("http://example.com")
        .credential(CredentialHandle::new(KEY))
        .build()
        .expect_err("a key in the clear");
    assert_eq!(refused, BuildError::PlaintextCredential);
}

#[test]
fn a_key_in_the_address_is_refused() {
    for query in ["?key=canary", "?alt=sse&key=canary"] {
        let refused = GeminiSession::builder(format!("https://example.com/v1beta{query}")).build();
        assert_eq!(refused.expect_err("a key in the address"), BuildError::CredentialInUrl);
    }
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
