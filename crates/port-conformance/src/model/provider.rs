//! Decides what a provider does in a scenario, as data, in nobody's wire format.
//!
//! Knows nothing about how a harness carries it out: as the script of a fake, or as a loopback
//! server that speaks a provider's protocol.

use std::time::Duration;

use runtime_ports::{ModelFinish, TokenUsage};
use serde_json::Value;

/// What the provider does with the requests that arrive, in the order in which they arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum ProviderScript {
    /// It answers request number n with reply number n. A request too many is counted, and its
    /// connection is closed without a reply.
    Replies(Vec<ProviderReply>),
    /// Nobody is there: the connection is refused.
    Unreachable,
    /// The connection is neither made nor refused, until the caller goes away: nothing of a request
    /// can be sent.
    NeverConnects,
}

/// What the provider does with one request.
#[derive(Debug, Clone, PartialEq)]
pub enum ProviderReply {
    /// Answers in full.
    Answer(Answer),
    /// Says that it will not serve the request, in a text that repeats words of the request, as
    /// real providers do.
    Refuse(Refusal),
    /// Reads the request and stays silent, the connection open, until the caller goes away.
    StallBeforeAnswer,
    /// Streams the pieces of the answer, but never their end, and stays silent until the caller
    /// goes away. Where the caller did not ask for a stream: sends the head of the reply, then
    /// stays silent.
    StallMidAnswer(Answer),
    /// Reads the request and closes the connection without a byte of reply.
    CutBeforeAnswer,
    /// Streams the pieces of the answer and closes the connection before their end. Where the
    /// caller did not ask for a stream: closes it amid the body.
    CutMidAnswer(Answer),
    /// Replies with success, and with a body that is not the provider's protocol.
    Malformed,
}

/// An answer of the model, as the provider puts it on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the model says, in order.
    pub pieces: Vec<Piece>,
    /// The reason to stop that the provider states, true or not.
    pub finish: ModelFinish,
    /// Token counts; a field that is `None` is left out, and `None` leaves out all of it.
    pub usage: Option<TokenUsage>,
    /// What the provider says it cost, in nano-dollars.
    pub cost_nano_usd: Option<u64>,
    /// The provider's name for the request.
    pub request_id: Option<String>,
}

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text; streamed as one event for each fragment.
    Text(Vec<String>),
    /// Reasoning that may be shown, and what only its issuer may read back (`null` for nothing).
    Reasoning {
        /// What may be shown.
        text: String,
        /// What must come back verbatim.
        opaque: Value,
    },
    /// A tool call.
    Call {
        /// Identity of the call; `None` when the provider gives none.
        id: Option<String>,
        /// Name of the tool.
        name: String,
        /// Exactly the text that the model wrote as arguments, valid JSON or not; streamed in
        /// fragments where that is possible.
        arguments: String,
    },
}

/// Why a provider does not serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The request is malformed (on HTTP: 400).
    Invalid,
    /// The credential is missing or wrong (401).
    Unauthorized,
    /// The credential may not do this (403).
    Forbidden,
    /// The model does not exist (404).
    UnknownModel,
    /// Too many requests (429), with the time to wait if the provider says one.
    RateLimited(Option<Duration>),
    /// The prompt does not fit the context window.
    ContextOverflow,
    /// The asked-for `max_output_tokens` is too big for the model.
    OutputLimit,
    /// The provider is overloaded (503), with the time to wait if it says one.
    Overloaded(Option<Duration>),
    /// The provider broke (500).
    Broken,
}

impl ProviderScript {
    /// One request, this reply.
    #[must_use]
    pub fn one(reply: ProviderReply) -> Self {
        Self::Replies(vec![reply])
    }

    /// No request is expected.
    #[must_use]
    pub const fn nothing() -> Self {
        Self::Replies(Vec::new())
    }

    /// One request, answered in full.
    #[must_use]
    pub fn answer(answer: Answer) -> Self {
        Self::one(ProviderReply::Answer(answer))
    }
}

impl Answer {
    /// A whole answer of these pieces: it stops for tools if there is a call among them. Reports
    /// 12 prompt tokens, 3 answer tokens and the request id `request-1`, and no cost.
    #[must_use]
    pub fn of(pieces: Vec<Piece>) -> Self {
        let calls = pieces.iter().any(|piece| matches!(piece, Piece::Call { .. }));
        Self {
            pieces,
            finish: if calls { ModelFinish::ToolCalls } else { ModelFinish::Stop },
            usage: Some(TokenUsage {
                input_tokens: Some(12),
                output_tokens: Some(3),
                ..TokenUsage::default()
            }),
            cost_nano_usd: None,
            request_id: Some("request-1".into()),
        }
    }

    /// A whole answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(vec![Piece::text(text)])
    }

    /// The same answer with another reason to stop.
    #[must_use]
    pub fn stopped_by(self, finish: ModelFinish) -> Self {
        Self { finish, ..self }
    }

    /// The same answer with another report of tokens.
    #[must_use]
    pub fn reporting(self, usage: Option<TokenUsage>) -> Self {
        Self { usage, ..self }
    }

    /// All text of the answer.
    #[must_use]
    pub fn whole_text(&self) -> String {
        let fragments = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(fragments) => Some(fragments.concat()),
            Piece::Reasoning { .. } | Piece::Call { .. } => None,
        });
        fragments.collect()
    }
}

impl Piece {
    /// Text in one fragment.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(vec![text.into()])
    }

    /// Text in several fragments.
    #[must_use]
    pub fn fragments(fragments: &[&str]) -> Self {
        Self::Text(fragments.iter().map(|fragment| (*fragment).to_owned()).collect())
    }

    /// A call of a tool.
    #[must_use]
    pub fn call(id: &str, name: &str, arguments: &str) -> Self {
        Self::Call { id: Some(id.into()), name: name.into(), arguments: arguments.into() }
    }
}
