//! Decides what a server can do to bring a key or a prompt to light, and that it does not.
//!
//! Knows no API: what an error and the first event of a stream look like is the subject's to say.

use model_wire::BuildError;

use crate::{
    asking::{KEY, PROMPT, ask},
    loopback::{Act, Loopback, chunk, events, json, reply, stream, stream_head},
    subject::{Echo, Setting, Subject, hasty, keyed, session},
};

/// Everything that a server could echo the key and the prompt in.
fn replies(echo: &Echo) -> Vec<Vec<Act>> {
    let (text, headers) = (Echo::text(), [(echo.request_id, KEY), ("retry-after", KEY)]);
    let page = format!("<html>{text}</html>");
    let refused = |status: &str, body: &str| vec![Act::Send(reply(status, &headers, body))];
    let refusals = echo.statuses.iter().map(|status| refused(status, &echo.refusal));
    let failures = echo.failures.iter().map(|failure| stream(&events(&[failure])));
    let away = reply("302 F", &[("location", &format!("/{KEY}"))], &text);
    let cut = |headers| {
        let event = chunk(&events(&[&echo.begun]));
        vec![Act::Send(stream_head(headers)), Act::Send(event), Act::Close]
    };
    let others = [
        refused("502 B", &page),
        refused("200 OK", &page),
        vec![Act::Send(away)],
        stream(&events(&[format!("no json {text}")])),
        cut(&headers),
        cut(&[]),
        vec![Act::Close],
    ];
    refusals.chain(failures).chain(others).collect()
}

/// Asks for each of these replies, and expects a failure that shows neither the key nor the prompt,
/// of a session that does not either.
///
/// # Panics
/// When there is an answer, and when something is shown.
pub async fn no_failure_shows_the_key_or_the_prompt<S: Subject>(subject: &S) {
    for acts in replies(&subject.echo()) {
        let name = format!("{acts:?}");
        let server = Loopback::start(vec![acts]).await;
        let session = hasty(subject, &server);
        let failure = ask(&session).await.expect_err(&name);
        let serialised = serde_json::to_string(&failure).expect("failures serialise");
        let shown = format!("{failure} {failure:?} {serialised} {session:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert!(!shown.contains(PROMPT), "{shown}");
    }
}

/// Expects neither a builder with the key, as its credential and in a header, nor its session to
/// show it, and no session that would send it in the clear.
///
/// # Panics
/// When the key is shown, and when such a session is built.
pub async fn no_builder_and_no_session_shows_the_key<S: Subject>(subject: &S) {
    let builder = subject.set(subject.builder("http://127.0.0.1:1"), keyed());
    let builder = subject.set(builder, Setting::Header("x-secret", KEY));
    assert!(!format!("{builder:?}").contains(KEY), "the builder shows it");
    let built = subject.build(builder).expect("a session");
    assert!(!format!("{built:?}").contains(KEY), "the session shows it");
    let refused = session(subject, "http://example.com", [keyed()]);
    let refused = refused.expect_err("a key in the clear");
    assert_eq!(refused, BuildError::PlaintextCredential);
}

/// Sends the session elsewhere, and expects it not to go there.
///
/// # Panics
/// When it goes, and when its failure does not say that it was sent.
pub async fn a_redirect_is_not_followed_and_the_key_stays_here<S: Subject>(subject: &S) {
    let elsewhere = Loopback::start(vec![json("200 OK", "{}")]).await;
    for status in ["301 M", "302 F", "307 T", "308 P"] {
        let to = reply(status, &[("location", &elsewhere.base_url())], "");
        let server = Loopback::start(vec![vec![Act::Send(to)]]).await;
        let failure = ask(&hasty(subject, &server)).await.expect_err(status);
        assert_eq!(failure.code, "REDIRECT_REFUSED");
    }
    assert_eq!(elsewhere.connections(), 0);
}
