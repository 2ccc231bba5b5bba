//! Decides what a session needs to know before it can be used, and refuses what would not be safe.
//!
//! Knows nothing about the environment: every value is given by the composition root.

use std::collections::HashMap;

use model_wire::{BuildError, Delivery, Endpoint, HttpClient, KeyHeader, Profiles, Tape, Timeouts};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;

use crate::{
    family::ModelFamily,
    session::{AnthropicSession, Settings},
    standing::{Standing, ThinkingDisplay},
};

/// The version of the API that requests are written for.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Whether the server is asked to keep what it has read of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptCache {
    /// The ends of what stays the same are marked: the last tool, the system text, and the last
    /// two turns of the user. The default.
    Marked,
    /// Nothing is marked, and nothing is written to a cache. For servers that know no cache.
    Off,
}

/// Collects what a session needs. Made by [`AnthropicSession::builder`].
#[derive(Debug, Clone)]
pub struct AnthropicSessionBuilder {
    endpoint: Endpoint,
    betas: Vec<String>,
    delivery: Delivery,
    cache: PromptCache,
    one_call_at_a_time: bool,
    standing: Standing,
    issuer: Option<String>,
    families: HashMap<String, ModelFamily>,
    profiles: Profiles,
}

impl AnthropicSessionBuilder {
    pub(crate) fn new(base_url: impl Into<String>) -> Self {
        let key_header = KeyHeader::Named("x-api-key".to_owned());
        let (name, value) = VERSION;
        let headers = vec![(name.to_owned(), CredentialHandle::new(value))];
        Self {
            endpoint: Endpoint { key_header, headers, ..Endpoint::new(base_url) },
            betas: Vec::new(),
            delivery: Delivery::Streamed,
            cache: PromptCache::Marked,
            one_call_at_a_time: false,
            standing: Standing::NONE,
            issuer: None,
            families: HashMap::new(),
            profiles: Profiles::default(),
        }
    }

    /// How answers are asked for. Default: [`Delivery::Streamed`].
    #[must_use]
    pub const fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Whether the server is asked to keep prompts. Default: [`PromptCache::Marked`].
    #[must_use]
    pub const fn prompt_cache(mut self, cache: PromptCache) -> Self {
        self.cache = cache;
        self
    }

    /// Asks for at most one tool call in an answer. Default: as many as the model wants.
    #[must_use]
    pub const fn one_call_at_a_time(mut self) -> Self {
        self.one_call_at_a_time = true;
        self
    }

    /// How much of its reasoning a model shows, in every answer in which it reasons: when a request
    /// has an effort, or the model reasons unasked. Signatures come and go back either way. Default:
    /// what the server does by itself; the newest models then show nothing.
    #[must_use]
    pub const fn thinking_display(mut self, display: ThinkingDisplay) -> Self {
        self.standing.display = Some(display);
        self
    }

    /// Samples from the likeliest tokens whose probabilities add up to this, from 0 to 1. Requests
    /// to models that do not take it are refused before they are sent. Default: not sent.
    #[must_use]
    pub const fn top_p(mut self, top_p: f64) -> Self {
        self.standing.top_p = Some(top_p);
        self
    }

    /// Samples from this many of the likeliest tokens. Requests to models that do not take it are
    /// refused before they are sent. Default: not sent.
    #[must_use]
    pub const fn top_k(mut self, top_k: u32) -> Self {
        self.standing.top_k = Some(top_k);
        self
    }

    /// The capacity that requests may use, in a word of the API: `auto` or `standard_only`.
    /// Default: not sent.
    #[must_use]
    pub fn service_tier(mut self, tier: impl Into<String>) -> Self {
        self.standing.service_tier = Some(tier.into());
        self
    }

    /// Whom requests are made for, as an identity that tells nothing about the person. Default: not
    /// sent.
    #[must_use]
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        self.standing.user_id = Some(user_id.into());
        self
    }

    /// The API key. Default: none is sent.
    #[must_use]
    pub fn credential(mut self, credential: CredentialHandle) -> Self {
        self.endpoint.credential = Some(credential);
        self
    }

    /// Sends the key in a header of this name, as it is. Default: `x-api-key`.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.endpoint.key_header = KeyHeader::Named(name.into());
        self
    }

    /// Sends the key as `authorization: Bearer …`, as gateways want it.
    #[must_use]
    pub fn bearer(mut self) -> Self {
        self.endpoint.key_header = KeyHeader::Bearer;
        self
    }

    /// One more header of every request. One of the name `anthropic-version` replaces the version
    /// that is sent otherwise, `2023-06-01`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.endpoint.headers.push((name.into(), CredentialHandle::new(value)));
        self
    }

    /// Asks for a feature that is in beta (`anthropic-beta`). Several are sent together.
    #[must_use]
    pub fn beta(mut self, feature: impl Into<String>) -> Self {
        self.betas.push(feature.into());
        self
    }

    /// Name of the provider and account that reasoning belongs to: it goes back to a session of
    /// the same name only. Default: scheme, host and port of the base URL.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// What `model` can be asked. Default: [`ModelFamily::of`] its name.
    #[must_use]
    pub fn family(mut self, model: impl Into<String>, family: ModelFamily) -> Self {
        self.families.insert(model.into(), family);
        self
    }

    /// Most bytes of one event, and of an answer that comes as one document. An answer may have 16
    /// times as much in all. Default: 16 MiB.
    #[must_use]
    pub const fn event_limit_bytes(mut self, bytes: usize) -> Self {
        self.endpoint.event_limit = bytes;
        self
    }

    /// Records what is said over the wire, or answers from a recording. Default: neither.
    #[must_use]
    pub fn tape(mut self, tape: Tape) -> Self {
        self.endpoint.tape = tape;
        self
    }

    /// How long each phase may take. Default: [`Timeouts::default`].
    #[must_use]
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.endpoint.timeouts = timeouts;
        self
    }

    /// What requests to `model` may hold. Its `max_output_tokens` is asked for when a request has
    /// no limit of its own; where neither is known, 4,096 are (16,384, or what the budget needs
    /// beyond 4,096, when the model thinks): the API insists on a limit.
    #[must_use]
    pub fn profile(mut self, model: impl Into<String>, profile: ModelProfile) -> Self {
        self.profiles.set(model, profile);
        self
    }

    /// What requests to any other model may hold. Default: other models are `NotFound`.
    #[must_use]
    pub fn default_profile(mut self, profile: ModelProfile) -> Self {
        self.profiles.set_other(profile);
        self
    }

    /// The session. Nothing is sent yet.
    ///
    /// # Errors
    /// What is missing or not safe, as [`BuildError`].
    pub fn build(mut self) -> Result<AnthropicSession, BuildError> {
        if !self.betas.is_empty() {
            let betas = CredentialHandle::new(self.betas.join(","));
            self.endpoint.headers.push(("anthropic-beta".to_owned(), betas));
        }
        let client = HttpClient::new(&self.endpoint)?;
        let issuer = self.issuer.unwrap_or_else(|| client.origin());
        Ok(AnthropicSession::new(
            client,
            Settings {
                delivery: self.delivery,
                cache: self.cache,
                one_call_at_a_time: self.one_call_at_a_time,
                standing: self.standing,
                issuer,
                families: self.families,
                profiles: self.profiles,
            },
        ))
    }
}
