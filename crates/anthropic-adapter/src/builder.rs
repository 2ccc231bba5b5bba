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
    /// beyond 4,096, when the model shall think): the API insists on a limit.
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
                issuer,
                families: self.families,
                profiles: self.profiles,
            },
        ))
    }
}
