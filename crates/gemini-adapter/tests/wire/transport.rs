//! Connections: reached or not, kept or not, and what a session is told about its models.

use gemini_adapter::GeminiSession;
use wire_rehearsal::{connections, loopback::Loopback, profiles};

use crate::{builder, session, whole};

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
async fn costs_and_names_come_from_headers_too() {
    let body = r#"{"responseId":"x","candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}"#;
    connections::heads_name_and_price(body, session).await;
}

#[tokio::test]
async fn profiles_are_the_configured_ones() {
    let server = Loopback::start(vec![]).await;
    let known = builder(&server).profile("a", profiles::window(8));
    let build = |other| known.clone().default_profile(other).build().expect("a session");
    let session = known.clone().build().expect("a session");
    profiles::are_the_configured_ones(&session, build).await;
}
