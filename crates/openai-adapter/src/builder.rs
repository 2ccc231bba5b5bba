//! Decides what a session needs to know before it can be used, and refuses what would not be safe.
//!
//! Knows nothing about the environment: every value is given by the composition root.

use std::collections::HashMap;

use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;
use thiserror::Error;

use crate::{
    client::{HttpClient, KeyHeader},
    profile::{Api, Delivery, MaxTokensField, Timeouts},
    session::{OpenAiSession, Settings},
};

/// Most bytes of one event, unless it is configured: events may echo all instructions and images.
const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// Why a session cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The base URL is no absolute `http` or `https` address.
    #[error("the base url must be an absolute http or https address, like https://host/v1")]
    InvalidBaseUrl,
    /// The base URL has a user or a password in it.
    #[error("the base url must not hold a user or a password; give the api key by itself")]
    CredentialInUrl,
    /// The key would travel in the clear.
    #[error("the api key is not sent over plain http to another machine; use https")]
    PlaintextCredential,
    /// The key has characters that no header may have.
    #[error("the api key has characters that cannot be sent; check for line breaks")]
    InvalidCredential,
    /// A header cannot be sent.
    #[error("the header {0:?} cannot be sent; check its name and value")]
    InvalidHeader(String),
    /// The platform has no certificates to trust.
    #[error("no trusted certificates are installed; install the ca-certificates of the system")]
    NoCertificates,
    /// The HTTP client cannot be set up.
    #[error("the http client cannot be set up on this system")]
    Client,
}

/// Collects what a session needs. Made by [`OpenAiSession::builder`].
#[derive(Debug, Clone)]
pub struct OpenAiSessionBuilder {
    base_url: String,
    api: Api,
    delivery: Delivery,
    credential: Option<CredentialHandle>,
    key_header: KeyHeader,
    /// Any of them may be a secret; a handle is never printed.
    headers: Vec<(String, CredentialHandle)>,
    issuer: Option<String>,
    max_tokens: Option<MaxTokensField>,
    reasoning_summary: Option<String>,
    event_limit: usize,
    timeouts: Timeouts,
    profiles: HashMap<String, ModelProfile>,
    default_profile: Option<ModelProfile>,
}

impl OpenAiSessionBuilder {
    pub(crate) fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api: Api::Chat,
            delivery: Delivery::Streamed,
            credential: None,
            key_header: KeyHeader::Bearer,
            headers: Vec::new(),
            issuer: None,
            max_tokens: None,
            reasoning_summary: None,
            event_limit: EVENT_LIMIT,
            timeouts: Timeouts::default(),
            profiles: HashMap::new(),
            default_profile: None,
        }
    }

    /// The API to speak. Default: [`Api::Chat`].
    #[must_use]
    pub const fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }

    /// How answers are asked for. Default: [`Delivery::Streamed`].
    #[must_use]
    pub const fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The API key. Default: none is sent.
    #[must_use]
    pub fn credential(mut self, credential: CredentialHandle) -> Self {
        self.credential = Some(credential);
        self
    }

    /// Sends the key in a header of this name, as it is. Default: `authorization: Bearer …`.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = KeyHeader::Named(name.into());
        self
    }

    /// The organisation that is billed (`openai-organization`).
    #[must_use]
    pub fn organization(self, id: impl Into<String>) -> Self {
        self.header("openai-organization", id)
    }

    /// The project that is billed (`openai-project`).
    #[must_use]
    pub fn project(self, id: impl Into<String>) -> Self {
        self.header("openai-project", id)
    }

    /// One more header of every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), CredentialHandle::new(value)));
        self
    }

    /// Name of the provider and account that reasoning belongs to: it goes back to a session of
    /// the same name only. Default: scheme, host and port of the base URL.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Name of the output limit in Chat Completions. Default: `max_completion_tokens` for
    /// `api.openai.com`, `max_tokens` for everybody else. A server that refuses the one gets the
    /// other.
    #[must_use]
    pub const fn max_tokens_field(mut self, field: MaxTokensField) -> Self {
        self.max_tokens = Some(field);
        self
    }

    /// Asks a Responses server for summaries of reasoning, for example `auto`. Default: none.
    #[must_use]
    pub fn reasoning_summary(mut self, level: impl Into<String>) -> Self {
        self.reasoning_summary = Some(level.into());
        self
    }

    /// Most bytes of one event, and of an answer that comes as one document. An answer may have 16
    /// times as much in all. Default: 16 MiB.
    #[must_use]
    pub const fn event_limit_bytes(mut self, bytes: usize) -> Self {
        self.event_limit = bytes;
        self
    }

    /// How long each phase may take. Default: [`Timeouts::default`].
    #[must_use]
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// What requests to `model` may hold.
    #[must_use]
    pub fn profile(mut self, model: impl Into<String>, profile: ModelProfile) -> Self {
        self.profiles.insert(model.into(), profile);
        self
    }

    /// What requests to any other model may hold. Default: other models are `NotFound`.
    #[must_use]
    pub fn default_profile(mut self, profile: ModelProfile) -> Self {
        self.default_profile = Some(profile);
        self
    }

    /// The session. Nothing is sent yet.
    ///
    /// # Errors
    /// What is missing or not safe, as [`BuildError`].
    pub fn build(self) -> Result<OpenAiSession, BuildError> {
        let credential = self.credential.map(|credential| (credential, self.key_header));
        let client = HttpClient::new(&self.base_url, credential, &self.headers, &self.timeouts)?;
        let origin = client.origin();
        let max_tokens = self.max_tokens.unwrap_or(match origin.as_str() {
            "https://api.openai.com" => MaxTokensField::MaxCompletionTokens,
            _ => MaxTokensField::MaxTokens,
        });
        Ok(OpenAiSession::new(
            client,
            Settings {
                api: self.api,
                delivery: self.delivery,
                issuer: self.issuer.unwrap_or(origin),
                max_tokens,
                reasoning_summary: self.reasoning_summary,
                event_limit: self.event_limit,
                timeouts: self.timeouts,
                profiles: self.profiles,
                default_profile: self.default_profile,
            },
        ))
    }
}
