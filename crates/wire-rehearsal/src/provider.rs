//! Decides what the provider of the conformance suite does on the wire, and is the suite's harness
//! for every model adapter.
//!
//! Knows the scripts of the suite and HTTP. Refuses to know any API: how an answer and a refusal
//! are spoken, and how a session is built, is the [`Adapter`]'s to say.

use std::sync::Arc;

use async_trait::async_trait;
use model_wire::BuildError;
use port_conformance::{
    Unstageable,
    model::{
        Answer, ModelCapabilities, ModelHarness, ProviderReply, ProviderScript, ProviderView,
        Refusal, StagedModel,
    },
};
use runtime_ports::ModelSession;

use crate::loopback::{Act, LAST_CHUNK, Loopback, chunk, refusing_address, reply, stream_head};

/// The key that a session of the suite sends.
pub const KEY: &str = "key-of-the-suite";

/// The model that a session of the suite has a profile of.
pub const MODEL: &str = "served";

/// What a provider repeats in a refusal: words of the request, and the key.
pub const ECHO: &str = "you sent payload-canary-5e with key-of-the-suite";

/// What is an adapter's own: how its API is spoken, and how its session is built.
pub trait Adapter: Send + Sync {
    /// The subject.
    type Session: ModelSession + 'static;

    /// The header that names a request, where the API has one.
    const REQUEST_ID: Option<&'static str>;

    /// What the session and its provider can do. Whether connecting can take time is found out
    /// apart, so that the field `waits_to_connect` does not count.
    fn capabilities(&self) -> ModelCapabilities;

    /// A session for a provider at this address, with [`KEY`] and a profile of [`MODEL`].
    ///
    /// # Errors
    /// Those of the builder.
    fn session(&self, base_url: &str) -> Result<Self::Session, BuildError>;

    /// An answer in the words of the API.
    fn spoken(&self, answer: &Answer) -> Spoken;

    /// A refusal as the vendor words it, with [`ECHO`] in its text.
    fn refused(&self, refusal: Refusal) -> Vec<u8>;

    /// The body of a success that is not the API's.
    fn malformed(&self) -> &'static str;
}

/// An answer in the words of an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// As a stream.
    Events {
        /// The events of its pieces.
        begun: Vec<String>,
        /// The events that end it.
        end: Vec<String>,
    },
    /// As one document.
    Document(String),
}

/// The harness of an adapter, over real TCP.
#[derive(Debug, Clone, Copy)]
pub struct Rehearsed<A>(pub A);

#[async_trait]
impl<A: Adapter> ModelHarness for Rehearsed<A> {
    fn capabilities(&self) -> ModelCapabilities {
        // A machine without certificates speaks no TLS, which is what makes connecting long.
        let waits_to_connect = self.0.session("https://127.0.0.1/v1").is_ok();
        ModelCapabilities { waits_to_connect, ..self.0.capabilities() }
    }

    async fn stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable> {
        let (base_url, server) = start(&self.0, script).await;
        let session = self.0.session(&base_url);
        let session = session.map_err(|error| Unstageable::because(error.to_string()))?;
        Ok(StagedModel {
            session: Arc::new(session),
            model: MODEL.into(),
            unknown_model: "not-served".into(),
            provider: Arc::new(View(server)),
        })
    }
}

/// What the server noticed, if there is one.
struct View(Option<Loopback>);

impl ProviderView for View {
    fn requests_seen(&self) -> usize {
        self.0.as_ref().map_or(0, |server| server.seen().len())
    }

    fn request_text(&self, index: usize) -> Option<String> {
        self.0.as_ref()?.seen().get(index).map(|request| request.body.clone())
    }

    fn abandoned(&self) -> usize {
        self.0.as_ref().map_or(0, Loopback::abandoned)
    }
}

async fn start<A: Adapter>(adapter: &A, script: ProviderScript) -> (String, Option<Loopback>) {
    match script {
        ProviderScript::Replies(replies) => {
            let acts = replies.iter().map(|reply| acts(adapter, reply)).collect();
            let server = Loopback::start(acts).await;
            (server.base_url(), Some(server))
        }
        ProviderScript::Unreachable => (format!("http://{}/v1", refusing_address().await), None),
        ProviderScript::NeverConnects => {
            // It takes the connection and never answers the handshake.
            let server = Loopback::start(Vec::new()).await;
            (server.base_url().replace("http://", "https://"), Some(server))
        }
    }
}

fn acts<A: Adapter>(adapter: &A, reply: &ProviderReply) -> Vec<Act> {
    match reply {
        ProviderReply::Answer(answer) => answered(adapter, answer),
        ProviderReply::Refuse(refusal) => vec![Act::Send(adapter.refused(*refusal))],
        ProviderReply::StallBeforeAnswer => vec![Act::Hang],
        ProviderReply::StallMidAnswer(answer) => broken_off(adapter, answer, Act::Hang),
        ProviderReply::CutBeforeAnswer => vec![Act::Close],
        ProviderReply::CutMidAnswer(answer) => broken_off(adapter, answer, Act::Close),
        ProviderReply::Malformed => vec![Act::Send(reply_of(adapter.malformed()))],
    }
}

fn reply_of(body: &str) -> Vec<u8> {
    reply("200 OK", &[], body)
}

fn request_id<A: Adapter>(answer: &Answer) -> Vec<(&'static str, &str)> {
    A::REQUEST_ID.zip(answer.request_id.as_deref()).into_iter().collect()
}

fn answered<A: Adapter>(adapter: &A, answer: &Answer) -> Vec<Act> {
    let headers = request_id::<A>(answer);
    match adapter.spoken(answer) {
        Spoken::Document(body) => vec![Act::Send(reply("200 OK", &headers, &body))],
        Spoken::Events { begun, end } => {
            let mut acts = streamed(&headers, &[begun, end].concat());
            acts.push(Act::Send(LAST_CHUNK.to_vec()));
            acts
        }
    }
}

fn broken_off<A: Adapter>(adapter: &A, answer: &Answer, then: Act) -> Vec<Act> {
    let headers = request_id::<A>(answer);
    let mut acts = match adapter.spoken(answer) {
        Spoken::Document(body) => {
            let whole = reply("200 OK", &headers, &body);
            vec![Act::Send(whole[..whole.len() - 40].to_vec())]
        }
        Spoken::Events { begun, .. } => streamed(&headers, &begun),
    };
    acts.push(then);
    acts
}

/// The head of a stream, and events in a packet each.
fn streamed(headers: &[(&str, &str)], events: &[String]) -> Vec<Act> {
    let events = events.iter().map(|event| Act::Send(chunk(event.as_bytes())));
    [Act::Send(stream_head(headers))].into_iter().chain(events).collect()
}

/// The whole seconds that a provider says to wait.
#[must_use]
pub fn wait_seconds(refusal: Refusal) -> Option<u64> {
    match refusal {
        Refusal::RateLimited(wait) | Refusal::Overloaded(wait) => Some(wait?.as_secs()),
        _ => None,
    }
}

/// A reply that says in its head how long to wait.
#[must_use]
pub fn refusing(status: &str, refusal: Refusal, body: &str) -> Vec<u8> {
    let wait = wait_seconds(refusal).map(|seconds| seconds.to_string());
    let headers: Vec<(&str, &str)> =
        wait.iter().map(|wait| ("retry-after", wait.as_str())).collect();
    reply(status, &headers, body)
}
