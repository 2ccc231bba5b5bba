//! Connections: reached or not, kept or not, and what a session is told about its models.

use gemini_adapter::GeminiSession;
use runtime_ports::{ModelProfile, ModelSession, PortFailureKind};
use wire_rehearsal::{connections, loopback::Loopback};

use crate::{SHORT, builder, operation, session, whole};

#[tokio::test]
async fn a_connection_is_used_again() {
    connections::is_used_again(&whole(), session).await;
}

#[tokio::test]
async fn an_unreachable_server_is_named_and_nothing_was_sent() {
    let session = |base_url| GeminiSession::builder(base_url).build().expect("a session");
    connections::unreachable_is_named(session).await;
}

#[tokio::test]
async fn while_connecting_nothing_is_committed() {
    let session = |base_url, timeouts| GeminiSession::builder(base_url).timeouts(timeouts).build();
    connections::connecting_commits_nothing(session).await;
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
