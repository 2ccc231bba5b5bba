//! Decides what a server can do to bring a key or a prompt to light, and that it does not.
//!
//! Knows no API: what an error and the first event of a stream look like is the caller's to say.

use std::fmt::Debug;

use model_wire::BuildError;
use runtime_ports::ModelSession;

use crate::{
    asking::{KEY, PROMPT, ask},
    loopback::{Act, Loopback, chunk, events, json, reply, stream, stream_head},
};

/// The words of an API, with the key wherever a server could put it.
#[derive(Debug, Clone)]
pub struct Echo {
    /// Status lines that refuse.
    pub statuses: Vec<&'static str>,
    /// The header that names a request.
    pub request_id: &'static str,
    /// The body of a refusal.
    pub refusal: String,
    /// An event that says the same.
    pub error: String,
    /// An event that begins a stream.
    pub begun: String,
}

impl Echo {
    /// What a server could echo of a request: the key, and the prompt.
    #[must_use]
    pub fn text() -> String {
        format!("{KEY} {PROMPT}")
    }

    /// Everything that a server could echo the key and the prompt in.
    #[must_use]
    pub fn replies(&self) -> Vec<Vec<Act>> {
        let (text, headers) = (Self::text(), [(self.request_id, KEY), ("retry-after", KEY)]);
        let page = format!("<html>{text}</html>");
        let refused = |status: &str, body: &str| vec![Act::Send(reply(status, &headers, body))];
        let refusals = self.statuses.iter().map(|status| refused(status, &self.refusal));
        let away = reply("302 F", &[("location", &format!("/{KEY}"))], &text);
        let cut = |headers| {
            let event = chunk(&events(&[&self.begun]));
            vec![Act::Send(stream_head(headers)), Act::Send(event), Act::Close]
        };
        let others = [
            refused("502 B", &page),
            refused("200 OK", &page),
            vec![Act::Send(away)],
            stream(&events(&[&self.error])),
            stream(&events(&[format!("no json {text}")])),
            cut(&headers),
            cut(&[]),
            vec![Act::Close],
        ];
        refusals.chain(others).collect()
    }
}

/// Asks for each reply, and expects a failure that shows neither the key nor the prompt, of a
/// session that does not either.
///
/// # Panics
/// When there is an answer, and when something is shown.
pub async fn stay_hidden<S: ModelSession + Debug>(
    replies: Vec<Vec<Act>>,
    session: impl Fn(&Loopback) -> S,
) {
    for acts in replies {
        let name = format!("{acts:?}");
        let server = Loopback::start(vec![acts]).await;
        let session = session(&server);
        let failure = ask(&session).await.expect_err(&name);
        let serialised = serde_json::to_string(&failure).expect("failures serialise");
        let shown = format!("{failure} {failure:?} {serialised} {session:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert!(!shown.contains(PROMPT), "{shown}");
    }
}

/// Expects neither a builder with [`KEY`] nor its session to show it, and no session that would
/// send it in the clear. `keyed` is a builder for a base URL, with the key as its credential and in
/// a header.
///
/// # Panics
/// When the key is shown, and when such a session is built.
pub fn builders_hide_the_key<B: Debug, S: Debug>(
    keyed: impl Fn(&'static str) -> B,
    build: impl Fn(B) -> Result<S, BuildError>,
) {
    let builder = keyed("http://127.0.0.1:1");
    assert!(!format!("{builder:?}").contains(KEY), "the builder shows it");
    let session = build(builder).expect("a session");
    assert!(!format!("{session:?}").contains(KEY), "the session shows it");
    let refused = build(keyed("http://example.com")).expect_err("a key in the clear");
    assert_eq!(refused, BuildError::PlaintextCredential);
}

/// Sends the session elsewhere, and expects it not to go there.
///
/// # Panics
/// When it goes, and when its failure does not say that it was sent.
pub async fn stay_here<S: ModelSession>(session: impl Fn(&Loopback) -> S) {
    let elsewhere = Loopback::start(vec![json("200 OK", "{}")]).await;
    for status in ["301 M", "302 F", "307 T", "308 P"] {
        let to = reply(status, &[("location", &elsewhere.base_url())], "");
        let server = Loopback::start(vec![vec![Act::Send(to)]]).await;
        let failure = ask(&session(&server)).await.expect_err(status);
        assert_eq!(failure.code, "REDIRECT_REFUSED");
    }
    assert_eq!(elsewhere.connections(), 0);
}
