//! Decides what a session needs to know before it can be used, and refuses what would not be safe.
//!
//! Knows nothing about the environment: every value is given by the composition root.

use model_wire::{BuildError, Delivery, Endpoint, HttpClient, KeyHeader, Profiles, Tape, Timeouts};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;

use crate::{
    profile::{Api, MaxTokensField},
    server_profile::ServerProfile,
    session::{OpenAiSession, Settings},
};

/// Collects what a session needs. Made by [`OpenAiSession::builder`].
#[derive(Debug, Clone)]
pub struct OpenAiSessionBuilder {
    endpoint: Endpoint,
    api: Api,
    delivery: Delivery,
    issuer: Option<String>,
    server: Option<ServerProfile>,
    max_tokens: Option<MaxTokensField>,
    reasoning_summary: Option<String>,
    one_call: bool,
    continues: bool,
    profiles: Profiles,
}

impl OpenAiSessionBuilder {
    pub(crate) fn new(base_url: impl Into<String>) -> Self {
        Self {
            endpoint: Endpoint::new(base_url),
            api: Api::Chat,
            delivery: Delivery::Streamed,
            issuer: None,
            server: None,
            max_tokens: None,
            reasoning_summary: None,
            one_call: false,
            continues: false,
            profiles: Profiles::default(),
        }
    }

    /// The API to speak. Default: [`Api::Chat`].
    #[must_use]
    pub const fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }

    /// In what the server departs from the API. Default: what is known of the family that the base
    /// URL belongs to ([`ServerProfile::of_base_url`]), or the lenient profile. The other methods
    /// of this builder come first where they say something else.
    #[must_use]
    pub fn server_profile(mut self, profile: ServerProfile) -> Self {
        self.server = Some(profile);
        self
    }

    /// How answers are asked for. Default: [`Delivery::Streamed`]. A server whose profile has only
    /// one way gets that one.
    #[must_use]
    pub const fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The API key. Default: none is sent.
    #[must_use]
    pub fn credential(mut self, credential: CredentialHandle) -> Self {
        self.endpoint.credential = Some(credential);
        self
    }

    /// Sends the key in a header of this name, as it is. Default: what the server's profile says,
    /// else `authorization: Bearer …`.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.endpoint.key_header = KeyHeader::Named(name.into());
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
        self.endpoint.headers.push((name.into(), CredentialHandle::new(value)));
        self
    }

    /// Name of the provider and account that reasoning belongs to: it goes back to a session of
    /// the same name only. Default: scheme, host and port of the base URL.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Name of the output limit in Chat Completions. Default: what the server's profile says. A
    /// server that refuses the one gets the other.
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

    /// Asks for one tool call at a time, of servers whose profile knows `parallel_tool_calls`. An
    /// answer may have several nevertheless. Default: not said.
    #[must_use]
    pub const fn one_call_at_a_time(mut self) -> Self {
        self.one_call = true;
        self
    }

    /// Lets a Responses server keep what is sent and answered (`store`), so that a request which
    /// goes on where a response ended names it (`previous_response_id`) and sends only what is new.
    /// Histories that go on from anywhere else, and from what the server lost, are sent whole.
    /// Default: nothing is kept there.
    ///
    /// What the server keeps, and for how long, is between its provider and the account.
    #[must_use]
    pub const fn continue_responses(mut self) -> Self {
        self.continues = true;
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

    /// Records what is said over the wire, or answers from a recording. Default: neither.
    #[must_use]
    pub fn tape(mut self, tape: Tape) -> Self {
        self.endpoint.tape = tape;
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
    pub fn build(mut self) -> Result<OpenAiSession, BuildError> {
        let base_url = &self.endpoint.base_url;
        let server = self.server.unwrap_or_else(|| ServerProfile::of_base_url(base_url));
        if let (KeyHeader::Bearer, Some(name)) = (&self.endpoint.key_header, &server.key_header) {
            self.endpoint.key_header = KeyHeader::Named(name.clone());
        }
        let query = api_version_query(base_url, &server);
        let client = HttpClient::new(&self.endpoint)?;
        let origin = client.origin();
        Ok(OpenAiSession::new(
            client,
            Settings {
                api: self.api,
                delivery: server.only_delivery.unwrap_or(self.delivery),
                issuer: self.issuer.unwrap_or(origin),
                max_tokens: self.max_tokens.unwrap_or(server.max_tokens_field),
                server,
                query,
                reasoning_summary: self.reasoning_summary,
                one_call: self.one_call,
                continues: self.continues && self.api == Api::Responses,
                profiles: self.profiles,
            },
        ))
    }
}

/// The query with the version of the API, for servers that want one and whose address has none.
fn api_version_query(base_url: &str, server: &ServerProfile) -> String {
    let version = server.api_version.as_ref().filter(|_| !base_url.contains("api-version="));
    version.map_or_else(String::new, |version| format!("?api-version={version}"))
}
