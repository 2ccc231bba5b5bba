//! Connections: reached or not, kept or not, and what a session is told about its models.

use std::time::Duration;

use gemini_adapter::{BuildError, GeminiSession, Timeouts};
use runtime_ports::{ModelProfile, ModelSession, PortFailureKind};
use wire_rehearsal::loopback::{Loopback, refusing_address, stream};

use crate::{SHORT, ask, builder, line, operation, request, whole};

#[tokio::test]
async fn a_connection_is_used_again() {
    let server = Loopback::start(vec![stream(&whole()); 3]).await;
    let session = builder(&server).build().expect("a session");
    for _ in 0..3 {
        ask(&session).await.expect("an answer");
    }
    assert_eq!((server.seen().len(), server.connections()), (3, 1));
}

#[tokio::test]
async fn an_unreachable_server_is_named_and_nothing_was_sent() {
    let address = refusing_address().await;
    let session =
        GeminiSession::builder(format!("http://{address}/v1")).build().expect("a session");
    let failure = ask(&session).await.expect_err("nobody is there");
    let expected = format!(
        "CONNECT_FAILED: cannot reach http://{address}: connection refused; check the base url \
         and the server"
    );
    assert_eq!(failure.to_string(), expected);
    assert!(failure.attempts.is_empty());
}

/// A server that accepts and then says nothing keeps a TLS client connecting.
#[tokio::test]
async fn while_connecting_nothing_is_committed() {
    let server = Loopback::start(vec![]).await;
    let base_url = server.base_url().replace("http://", "https://");
    let session = |connect| {
        let timeouts = Timeouts { connect, ..Timeouts::default() };
        GeminiSession::builder(base_url.clone()).timeouts(timeouts).build()
    };
    let patient = match session(Duration::from_secs(20)) {
        Err(BuildError::NoCertificates) => return,
        session => session.expect("a session"),
    };
    let late = patient.invoke(&operation(SHORT), request()).await;
    assert_eq!(line(&late), "Timeout DEADLINE_EXCEEDED not committed []");
    let cancelled = operation(Duration::from_secs(20));
    let cancelling = async {
        tokio::time::sleep(SHORT).await;
        cancelled.cancellation.cancel();
    };
    let (answered, ()) = tokio::join!(patient.invoke(&cancelled, request()), cancelling);
    assert_eq!(line(&answered), "Canceled CANCELED not committed []");
    let hasty = session(SHORT).expect("a session");
    assert_eq!(line(&ask(&hasty).await), "Unavailable CONNECT_FAILED not committed []");
}

#[tokio::test]
async fn profiles_are_the_configured_ones() {
    let profile = |window| ModelProfile {
        context_window_tokens: window,
        max_input_tokens: window / 2,
        max_output_tokens: None,
        images: false,
        price: None,
    };
    let server = Loopback::start(vec![]).await;
    let known = builder(&server).profile("a", profile(8));
    let within = operation(SHORT);
    let session = known.clone().build().expect("a session");
    assert_eq!(session.profile(&within, "a").await, Ok(profile(8)));
    let failure = session.profile(&within, "b").await.expect_err("no such model");
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    let session = known.default_profile(profile(4)).build().expect("a session");
    assert_eq!(session.profile(&within, "b").await, Ok(profile(4)));
}
