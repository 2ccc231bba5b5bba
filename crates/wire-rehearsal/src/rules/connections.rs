//! Decides what every model adapter holds about connections: kept between requests, nothing sent
//! while there is none, and what heads tell is told on.
//!
//! Knows no API.

use std::time::Duration;

use model_wire::{BuildError, Timeouts};
use runtime_ports::ModelSession;

use crate::{
    asking::{SHORT, ask, line, operation, request},
    loopback::{Act, Loopback, refusing_address, reply, stream},
    subject::{Setting, Subject, hasty, session},
};

/// Asks three times, and expects three answers over one connection.
///
/// # Panics
/// When an answer is missing, and when there was another connection.
pub async fn a_connection_is_used_again<S: Subject>(subject: &S) {
    let server = Loopback::start(vec![stream(&subject.words().whole()); 3]).await;
    let session = hasty(subject, &server);
    for _ in 0..3 {
        ask(&session).await.expect("an answer");
    }
    assert_eq!((server.seen().len(), server.connections()), (3, 1));
}

/// Expects a session for a server that is not there to say so, and that nothing was sent.
///
/// # Panics
/// When the session says something else.
pub async fn an_unreachable_server_is_named_and_nothing_was_sent<S: Subject>(subject: &S) {
    let address = refusing_address().await;
    let session = session(subject, &format!("http://{address}/v1"), []).expect("a session");
    let failure = ask(&session).await.expect_err("nobody is there");
    let expected = format!(
        "CONNECT_FAILED: cannot reach http://{address}: connection refused; check the base url \
         and the server"
    );
    assert_eq!(failure.to_string(), expected);
    assert!(failure.attempts.is_empty());
}

/// Expects nothing to be committed while a TLS client connects: it is kept at that by a server that
/// accepts and then says nothing. Without certificates there is nothing to expect.
///
/// # Panics
/// When a call ends in another way.
pub async fn while_connecting_nothing_is_committed<S: Subject>(subject: &S) {
    let server = Loopback::start(vec![]).await;
    let base_url = server.base_url().replace("http://", "https://");
    let within = |connect| {
        let timeouts = Timeouts { connect, ..Timeouts::default() };
        session(subject, &base_url, [Setting::Timeouts(timeouts)])
    };
    let patient = match within(Duration::from_secs(20)) {
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
    let hasty = within(SHORT).expect("a session");
    assert_eq!(line(&ask(&hasty).await), "Unavailable CONNECT_FAILED not committed []");
}

/// Answers with a document and with what a gateway adds in its head, and expects the gateway's name
/// of the request and its cost.
///
/// # Panics
/// When one of them is missing.
pub async fn costs_and_names_come_from_headers_too<S: Subject>(subject: &S) {
    let head = [("x-litellm-response-cost", "6.75e-06"), ("x-litellm-call-id", "call-1")];
    let answer = reply("200 OK", &head, subject.words().document);
    let server = Loopback::start(vec![vec![Act::Send(answer)]]).await;
    let answered = ask(&hasty(subject, &server)).await;
    assert_eq!(line(&answered), "Stop hi");
    let response = answered.expect("an answer");
    let attempt = &response.attempts[0];
    assert_eq!(attempt.provider_request_id.as_deref(), Some("call-1"));
    assert_eq!((attempt.cost_nano_usd, response.cost_nano_usd), (Some(6_750), Some(6_750)));
}
