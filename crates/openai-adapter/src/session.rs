//! Decides how a model call becomes requests to one server, and what is told about them.
//!
//! Knows nothing about other servers and about retrying. Invariant: a request is sent once; only a
//! server that refuses an optional part of it by name, or does not go on from the response that it
//! was told, gets it again without that part, and every request that reached it is listed.

mod lessons;
mod requests;

use std::{fmt, sync::OnceLock};

use async_trait::async_trait;
use model_wire::{Delivery, Exchange, HttpClient, Profiles, model_names, pieces::ToolEncodings};
use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure,
};

use crate::{
    builder::OpenAiSessionBuilder,
    context,
    continued::{Continued, Held},
    features::RefusedFeatures,
    history::Keys,
    profile::{Api, MaxTokensField},
    server_profile::ServerProfile,
};

/// What the builder settled.
pub(crate) struct Settings {
    pub(crate) api: Api,
    pub(crate) delivery: Delivery,
    pub(crate) issuer: String,
    pub(crate) max_tokens: MaxTokensField,
    pub(crate) server: ServerProfile,
    /// Behind every path: empty, or a query with its question mark.
    pub(crate) query: String,
    pub(crate) reasoning_summary: Option<String>,
    pub(crate) one_call: bool,
    /// Whether responses are kept at the server and continued.
    pub(crate) continues: bool,
    pub(crate) profiles: Profiles,
}

/// A [`ModelSession`] over one OpenAI-compatible server.
///
/// ```no_run
/// use openai_adapter::{Api, OpenAiSession};
/// use runtime_types::CredentialHandle;
///
/// # fn main() -> Result<(), openai_adapter::BuildError> {
/// let session = OpenAiSession::builder("https://api.openai.com/v1")
///     .api(Api::Responses)
///     .credential(CredentialHandle::new("sk-very-secret"))
///     .build()?;
/// assert!(!format!("{session:?}").contains("secret"));
/// # Ok(())
/// # }
/// ```
pub struct OpenAiSession {
    client: HttpClient,
    settings: Settings,
    refused: RefusedFeatures,
    tools: ToolEncodings,
    /// Keys of the encoding slots without and with reasoning that goes back.
    keys: [OnceLock<Keys>; 2],
    continued: Continued,
}

impl fmt::Debug for OpenAiSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OpenAiSession")
            .field("client", &self.client)
            .field("api", &self.settings.api)
            .field("issuer", &self.settings.issuer)
            .finish_non_exhaustive()
    }
}

impl OpenAiSession {
    /// Begins a session with the server at `base_url`, for example `https://api.openai.com/v1`.
    /// The paths of the API are appended; a query is kept.
    pub fn builder(base_url: impl Into<String>) -> OpenAiSessionBuilder {
        OpenAiSessionBuilder::new(base_url)
    }

    pub(crate) fn new(client: HttpClient, settings: Settings) -> Self {
        let (refused, tools) = (RefusedFeatures::of(&settings.server), ToolEncodings::default());
        let continued = Continued::default();
        Self { client, settings, refused, tools, keys: Default::default(), continued }
    }

    /// Names of the models that the server lists, in its order.
    ///
    /// # Cancellation
    /// Nothing remains: the request only reads.
    ///
    /// # Errors
    /// As of a model call; `NotFound` when the server has no such list.
    pub async fn list_models(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<String>, PortFailure> {
        operation.remaining()?;
        let exchange = self.exchange(operation, &DiscardDeltas);
        let path = format!("{}{}", self.settings.server.models_path, self.settings.query);
        let list = exchange.get(&path).await?;
        Ok(model_names(&list))
    }

    async fn call(
        &self,
        operation: &OperationContext,
        request: &ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        operation.remaining()?;
        context::fits(&self.settings.server, request)?;
        let mut attempts = Vec::new();
        loop {
            let sent = self.sent(request)?;
            let (path, body) = (self.path(&request.model), self.body(request, &sent)?);
            let (decoder, kept) = self.decoder(request, &sent);
            match self.exchange(operation, sink).run(&path, body, decoder).await {
                Ok(answered) => {
                    let response = answered.into_response(attempts);
                    context::was_taken_whole(&self.settings.server, request, &response)?;
                    if let Some(id) = kept.get() {
                        let input_tokens = response.usage.input_tokens;
                        let held = Held { id: id.as_str().into(), input_tokens };
                        self.continued.remember(request, &response.output, held);
                    }
                    return Ok(response);
                }
                Err(failed) => self.learn(failed, &sent, &mut attempts)?,
            }
        }
    }

    fn exchange<'a>(
        &'a self,
        operation: &'a OperationContext,
        sink: &'a dyn DeltaSink,
    ) -> Exchange<'a> {
        Exchange { client: &self.client, operation, sink }
    }
}

#[async_trait]
impl ModelSession for OpenAiSession {
    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        self.call(operation, &request, &DiscardDeltas).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.call(operation, &request, sink).await
    }

    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        operation.remaining()?;
        let profile = self.settings.profiles.of(model)?;
        Ok(context::within(&self.settings.server, profile))
    }

    fn issuer(&self) -> Option<&str> {
        Some(&self.settings.issuer)
    }
}
