//! Decides what a session knows about its server before the first request: the API it speaks and
//! the names it uses.
//!
//! Knows nothing about connections.

use runtime_ports::{Digest, EncodingKey, ModelContent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    features::{Feature, Features},
    server_profile::ServerProfile,
};

/// Which of the two APIs a server is spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST …/chat/completions`.
    Chat,
    /// `POST …/responses`, stateless: nothing is stored at the provider, the whole history is sent.
    Responses,
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// As a stream of events. The default, also for callers that do not watch: a broken connection
    /// is noticed at once, and no gateway in between gives up waiting for a long answer.
    Streamed,
    /// As one JSON document, for servers that cannot stream.
    Whole,
}

/// The name of the output limit in Chat Completions. The other one is tried when a server refuses
/// the one that is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`, which every compatible server knows.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's reasoning models insist on.
    MaxCompletionTokens,
}

/// What the writing of one request depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) api: Api,
    pub(crate) delivery: Delivery,
    pub(crate) issuer: &'a str,
    pub(crate) max_tokens: MaxTokensField,
    pub(crate) reasoning_summary: Option<&'a str>,
    pub(crate) features: Features,
    pub(crate) server: &'a ServerProfile,
}

impl Written<'_> {
    /// The key of the encoding slots: whatever makes the bytes of a message differ.
    pub(crate) fn encoding_key(&self) -> EncodingKey {
        let replay = self.features.has(Feature::ReasoningReplay);
        let server = Digest::of_json(self.server);
        EncodingKey::new("openai", &format!("{:?}/{replay}/{}/{server}", self.api, self.issuer))
    }

    /// The name of the output limit, after what the server refused.
    pub(crate) const fn max_tokens_field(&self) -> MaxTokensField {
        match (self.max_tokens, self.features.has(Feature::MaxTokensName)) {
            (configured, true) => configured,
            (MaxTokensField::MaxTokens, false) => MaxTokensField::MaxCompletionTokens,
            (MaxTokensField::MaxCompletionTokens, false) => MaxTokensField::MaxTokens,
        }
    }

    /// What this issuer needs back of `content`; `None` for everybody else's reasoning.
    pub(crate) fn own_reasoning<'c>(&self, content: &'c ModelContent) -> Option<&'c Value> {
        match content {
            ModelContent::Reasoning { issuer, opaque, .. } if issuer == self.issuer => Some(opaque),
            _ => None,
        }
    }
}
