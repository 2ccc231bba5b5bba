//! Decides how a model call becomes a request to one server, and what is told about it.
//!
//! Knows nothing about other servers and about retrying. Invariant: a request is sent once, and
//! every request that reached the server is listed.

use std::{fmt, sync::OnceLock};

use async_trait::async_trait;
use bytes::Bytes;
use model_wire::{Delivery, Exchange, Failed, HttpClient, Profiles, pieces::ToolEncodings};
use runtime_ports::{
    DeltaSink, DiscardDeltas, EncodingKey, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind,
};

use crate::{
    builder::GeminiSessionBuilder,
    contents::Contents,
    decoding,
    encode::{self, Written},
    families::Family,
    models,
    options::{self, Problem, Standing},
};

/// Most pages of the list of models that are asked for.
const MOST_PAGES: usize = 20;

/// What the builder settled.
pub(crate) struct Settings {
    pub(crate) delivery: Delivery,
    pub(crate) standing: Standing,
    pub(crate) issuer: String,
    pub(crate) profiles: Profiles,
}

/// A [`ModelSession`] over the Gemini API.
///
/// ```no_run
/// use gemini_adapter::GeminiSession;
/// use runtime_types::CredentialHandle;
///
/// # fn main() -> Result<(), gemini_adapter::BuildError> {
/// let session = GeminiSession::builder("https://generativelanguage.googleapis.com/v1beta")
///     .credential(CredentialHandle::new("very-secret"))
///     .build()?;
/// assert!(!format!("{session:?}").contains("secret"));
/// # Ok(())
/// # }
/// ```
pub struct GeminiSession {
    client: HttpClient,
    settings: Settings,
    tools: ToolEncodings,
    /// Keys of the encoding slots: without and with signatures on the calls of others, each without
    /// and with ids.
    keys: [[OnceLock<EncodingKey>; 2]; 2],
}

impl fmt::Debug for GeminiSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("GeminiSession")
            .field("client", &self.client)
            .field("issuer", &self.settings.issuer)
            .finish_non_exhaustive()
    }
}

impl GeminiSession {
    /// Begins a session with the server at `base_url`, version included, for example
    /// `https://generativelanguage.googleapis.com/v1beta`. The paths of the API are appended; a
    /// query is kept.
    pub fn builder(base_url: impl Into<String>) -> GeminiSessionBuilder {
        GeminiSessionBuilder::new(base_url)
    }

    pub(crate) fn new(client: HttpClient, settings: Settings) -> Self {
        Self { client, settings, tools: ToolEncodings::default(), keys: Default::default() }
    }

    /// Names of the models that generate content, in the order of the server.
    ///
    /// # Cancellation
    /// Nothing remains: the requests only read.
    ///
    /// # Errors
    /// As of a model call; `NotFound` when the server has no such list.
    pub async fn list_models(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<String>, PortFailure> {
        let exchange = self.exchange(operation, &DiscardDeltas);
        exchange.list(models::FIRST, MOST_PAGES, models::page).await
    }

    async fn call(
        &self,
        operation: &OperationContext,
        request: &ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        operation.remaining()?;
        let body = self.body(request).map_err(|problem| {
            PortFailure::not_sent(PortFailureKind::Invalid, "INVALID_REQUEST", problem)
        })?;
        let decoder = decoding::decoder(&self.settings.issuer, &request.invocation_id);
        let exchange = self.exchange(operation, sink);
        let answered = exchange.run(&self.path(&request.model), body, decoder).await;
        match answered {
            Ok(answered) => Ok(answered.into_response(Vec::new())),
            Err(Failed { failure, meter, .. }) => {
                Err(failure.with_attempts(meter.into_iter().collect()))
            }
        }
    }

    fn body(&self, request: &ModelRequest) -> Result<Bytes, Problem> {
        let some_tools = !request.tools.is_empty();
        let tools = some_tools
            .then(|| self.tools.encoding(&request.tools, || options::tools(&request.tools)));
        let fields = options::fields(request, tools, self.settings.standing)?;
        let Family { signed_calls, call_ids, .. } = Family::of(&request.model);
        let written = Written { issuer: &self.settings.issuer, signed_calls, call_ids };
        let keys = &self.keys[usize::from(signed_calls)];
        let key = keys[usize::from(call_ids)].get_or_init(|| written.encoding_key());
        let contents =
            Contents::of(&request.messages, key, |message| encode::piece(message, &written));
        if contents.is_empty() {
            return Err("the gemini api takes no request without a message; add one of the user");
        }
        Ok(contents.body(&fields))
    }

    fn path(&self, model: &str) -> String {
        let collection = if model.contains('/') { "" } else { "models/" };
        format!("{collection}{model}:{}", method(self.settings.delivery))
    }

    fn exchange<'a>(
        &'a self,
        operation: &'a OperationContext,
        sink: &'a dyn DeltaSink,
    ) -> Exchange<'a> {
        Exchange { client: &self.client, operation, sink }
    }
}

/// The method of the API, with its query.
const fn method(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::Streamed => "streamGenerateContent?alt=sse",
        Delivery::Whole => "generateContent",
    }
}

#[async_trait]
impl ModelSession for GeminiSession {
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
        self.settings.profiles.of(model).cloned()
    }

    fn issuer(&self) -> Option<&str> {
        Some(&self.settings.issuer)
    }
}
