//! Decides what a session needs to know before it can be used, and refuses what would not be safe.
//!
//! Knows nothing about the environment: every value is given by the composition root.

use model_wire::{BuildError, Delivery, Endpoint, HttpClient, KeyHeader, Profiles, Tape, Timeouts};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;

use crate::{
    options::{Standing, Thoughts},
    session::{GeminiSession, Settings},
};

/// Where the key stands. Never in the address: addresses end up in logs.
const KEY_HEADER: &str = "x-goog-api-key";

/// Collects what a session needs. Made by [`GeminiSession::builder`].
#[derive(Debug, Clone)]
pub struct GeminiSessionBuilder {
    endpoint: Endpoint,
    delivery: Delivery,
    standing: Standing,
    issuer: Option<String>,
    profiles: Profiles,
}

impl GeminiSessionBuilder {
    pub(crate) fn new(base_url: impl Into<String>) -> Self {
        let key_header = KeyHeader::Named(KEY_HEADER.to_owned());
        Self {
            endpoint: Endpoint { key_header, ..Endpoint::new(base_url) },
            delivery: Delivery::Streamed,
            standing: Standing::NONE,
            issuer: None,
            profiles: Profiles::default(),
        }
    }

    /// How answers are asked for. Default: [`Delivery::Streamed`].
    #[must_use]
    pub const fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The API key, which travels in the header `x-goog-api-key`. Default: none is sent.
    #[must_use]
    pub fn credential(mut self, credential: CredentialHandle) -> Self {
        self.endpoint.credential = Some(credential);
        self
    }

    /// One more header of every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.endpoint.headers.push((name.into(), CredentialHandle::new(value)));
        self
    }

    /// Name of the provider and account that thoughts and their signatures belong to: they go back
    /// to a session of the same name only. Default: scheme, host and port of the base URL.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Asks models that think for summaries of their thoughts. Default: they are not told.
    #[must_use]
    pub const fn thought_summaries(mut self) -> Self {
        self.standing.thoughts = Thoughts::Summaries;
        self
    }

    /// Samples from the likeliest tokens whose probabilities add up to this, from 0 to 1. Default:
    /// not sent.
    #[must_use]
    pub const fn top_p(mut self, top_p: f64) -> Self {
        self.standing.top_p = Some(top_p);
        self
    }

    /// Samples from this many of the likeliest tokens. Default: not sent.
    #[must_use]
    pub const fn top_k(mut self, top_k: u32) -> Self {
        self.standing.top_k = Some(top_k);
        self
    }

    /// Records what is said over the wire, or answers from a recording. Default: neither.
    #[must_use]
    pub fn tape(mut self, tape: Tape) -> Self {
        self.endpoint.tape = tape;
        self
    }

    /// Most bytes of one event, and of an answer that comes as one document. An answer may have 16
    /// times as much in all. Default: 16 MiB.
    #[must_use]
    pub const fn event_limit_bytes(mut self, bytes: usize) -> Self {
        self.endpoint.event_limit = bytes;
        self
    }

    /// How long each phase may take. Default: [`Timeouts::default`].
    #[must_use]
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.endpoint.timeouts = timeouts;
        self
    }

    /// What requests to `model` may hold.
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
    pub fn build(self) -> Result<GeminiSession, BuildError> {
        if has_key(&self.endpoint.base_url) {
            return Err(BuildError::CredentialInUrl);
        }
        let client = HttpClient::new(&self.endpoint)?;
        let issuer = self.issuer.unwrap_or_else(|| client.origin());
        Ok(GeminiSession::new(
            client,
            Settings {
                delivery: self.delivery,
                standing: self.standing,
                issuer,
                profiles: self.profiles,
            },
        ))
    }
}

/// The API also takes its key as a query of the address.
fn has_key(base_url: &str) -> bool {
    let query = base_url.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| pair.split('=').next() == Some("key"))
}
