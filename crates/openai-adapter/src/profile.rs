//! Decides what a session knows about its server before the first request: the API it speaks and
//! the names it uses.
//!
//! Knows nothing about connections.

use model_wire::Delivery;
use runtime_ports::{Digest, EncodingKey, ModelContent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    features::{Feature, Features},
    history::Keys,
    responses::Kept,
    server_profile::{PartCount, ServerProfile, ThinkTags},
};

/// Which of the two APIs a server is spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST …/chat/completions`.
    Chat,
    /// `POST …/responses`. Nothing is stored at the provider and the whole history is sent, unless
    /// the session is built to continue responses.
    Responses,
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
    /// Whether the caller wants one call at a time.
    pub(crate) one_call: bool,
    /// What of the conversation the server keeps.
    pub(crate) kept: Kept<'a>,
}

/// What the reading of one answer depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) think_tags: ThinkTags,
    pub(crate) counts: Counts,
    /// Whether messages keep their phase, to go back with it.
    pub(crate) keeps_phase: bool,
}

/// How the parts of a usage report are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) cached: PartCount,
    pub(crate) reasoning: PartCount,
}

impl Reading {
    /// How answers of `server` are read.
    pub(crate) const fn of(server: &ServerProfile) -> Self {
        let counts = Counts { cached: server.cached_tokens, reasoning: server.reasoning_tokens };
        Self { think_tags: server.think_tags, counts, keeps_phase: server.item_phase }
    }
}

impl Written<'_> {
    /// The keys of the encoding slots: whatever makes the bytes of a message differ.
    pub(crate) fn encoding_keys(&self) -> Keys {
        let replay = self.features.has(Feature::ReasoningReplay);
        let server = Digest::of_json(self.server);
        let key = |place: &str| {
            let profile = format!("{:?}/{replay}/{}/{server}/{place}", self.api, self.issuer);
            EncodingKey::new("openai", &profile)
        };
        Keys { front: key("front"), behind: key("behind") }
    }

    /// Whether the request asks for one call at a time.
    pub(crate) const fn asks_for_one_call(&self) -> bool {
        self.one_call && self.features.has(Feature::ParallelToolCalls)
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
