//! Decides how a model call becomes requests to one server, and what is told about them.
//!
//! Knows nothing about other servers and about retrying. Invariant: a request is sent once; only a
//! server that refuses an optional part of it by name gets it again, without that part, and every
//! request that reached it is listed.

use std::{collections::HashMap, fmt, sync::OnceLock};

use async_trait::async_trait;
use bytes::Bytes;
use model_wire::{
    Answered, Decoder, Exchange, Failed, HttpClient,
    pieces::{self, ToolEncodings},
};
use runtime_ports::{
    DeltaSink, DiscardDeltas, EncodingKey, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind, RequestMeter, ToolChoice,
};

use crate::{
    builder::OpenAiSessionBuilder,
    chat, decoding,
    features::{Feature, RefusedFeatures},
    models,
    profile::{Api, Delivery, MaxTokensField, Written},
    responses,
    server_profile::ServerProfile,
};

/// Most requests of one call: the first, and two more for two parts that a server refuses.
const MOST_REQUESTS: usize = 3;

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
    pub(crate) profiles: HashMap<String, ModelProfile>,
    pub(crate) default_profile: Option<ModelProfile>,
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
    keys: [OnceLock<EncodingKey>; 2],
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
        Self { client, settings, refused, tools, keys: Default::default() }
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
        let list = exchange.get(&path).await.map_err(|failure| self.redacted(failure))?;
        Ok(models::names(&list))
    }

    async fn call(
        &self,
        operation: &OperationContext,
        request: &ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        operation.remaining()?;
        self.check(request)?;
        let mut attempts = Vec::new();
        loop {
            let written = self.written();
            let body = self.body(request, &written);
            let decoder = self.decoder(request);
            let exchange = self.exchange(operation, sink);
            match exchange.run(&self.path(&request.model), body, decoder).await {
                Ok(answered) => return Ok(response(answered, attempts)),
                Err(failed) => self.learn(failed, &written, &mut attempts)?,
            }
        }
    }

    /// Remembers an optional part that the server refuses, so that the request can be sent without
    /// it; any other failure ends the call.
    fn learn(
        &self,
        failed: Failed,
        written: &Written<'_>,
        attempts: &mut Vec<RequestMeter>,
    ) -> Result<(), PortFailure> {
        attempts.extend(failed.meter);
        let refused = failed.refusal.and_then(|refusal| written.features.refused_by(&refusal));
        match refused.filter(|_| attempts.len() < MOST_REQUESTS) {
            Some(feature) => {
                self.refused.remember(feature);
                Ok(())
            }
            None => {
                let failure = failed.failure.with_attempts(std::mem::take(attempts));
                Err(self.redacted(failure))
            }
        }
    }

    /// Servers echo keys in places where nobody expects them.
    fn redacted(&self, mut failure: PortFailure) -> PortFailure {
        failure.message = self.client.without_key(failure.message);
        failure
    }

    fn check(&self, request: &ModelRequest) -> Result<(), PortFailure> {
        let options = &request.options;
        let forced = matches!(options.tool_choice, ToolChoice::Required | ToolChoice::Named { .. });
        let problem = match () {
            () if options.temperature.is_some_and(|value| !value.is_finite()) => {
                "the temperature must be a finite number"
            }
            () if forced && request.tools.is_empty() => "a required tool call needs tools",
            () if self.settings.api == Api::Responses && !options.stop.is_empty() => {
                "the responses api has no stop texts; leave them out or use chat completions"
            }
            () => return Ok(()),
        };
        Err(PortFailure::not_sent(PortFailureKind::Invalid, "INVALID_REQUEST", problem))
    }

    fn written(&self) -> Written<'_> {
        Written {
            api: self.settings.api,
            delivery: self.settings.delivery,
            issuer: &self.settings.issuer,
            max_tokens: self.settings.max_tokens,
            reasoning_summary: self.settings.reasoning_summary.as_deref(),
            features: self.refused.remaining(),
            server: &self.settings.server,
        }
    }

    /// One key for all requests alike: the same allocation is compared faster than equal texts.
    fn encoding_key(&self, written: &Written<'_>) -> &EncodingKey {
        let replay = written.features.has(Feature::ReasoningReplay);
        self.keys[usize::from(replay)].get_or_init(|| written.encoding_key())
    }

    fn body(&self, request: &ModelRequest, written: &Written<'_>) -> Bytes {
        let key = self.encoding_key(written);
        let some_tools = !request.tools.is_empty();
        match self.settings.api {
            Api::Chat => {
                let tools = some_tools
                    .then(|| self.tools.encoding(&request.tools, || chat::tools(&request.tools)));
                let piece = |message: &_| chat::piece(message, written);
                let messages = pieces::elements(&request.messages, key, piece);
                chat::body(request, &messages, tools, written)
            }
            Api::Responses => {
                let tools = some_tools.then(|| {
                    self.tools.encoding(&request.tools, || responses::tools(&request.tools))
                });
                let piece = |message: &_| responses::piece(message, written);
                let input = pieces::elements(&request.messages, key, piece);
                responses::body(request, &input, tools, written)
            }
        }
    }

    fn decoder(&self, request: &ModelRequest) -> Box<dyn Decoder> {
        let settings = &self.settings;
        decoding::decoder(settings.api, &settings.issuer, &request.invocation_id)
    }

    fn path(&self, model: &str) -> String {
        let Settings { api, server, query, .. } = &self.settings;
        let path = match api {
            Api::Chat => &server.chat_path,
            Api::Responses => &server.responses_path,
        };
        format!("{}{query}", path.replace("{model}", &path_segment(model)))
    }

    fn exchange<'a>(
        &'a self,
        operation: &'a OperationContext,
        sink: &'a dyn DeltaSink,
    ) -> Exchange<'a> {
        Exchange { client: &self.client, operation, sink }
    }
}

/// A text as one segment of a path: whatever could end it is escaped.
fn path_segment(text: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}

fn response(answered: Answered, mut attempts: Vec<RequestMeter>) -> ModelResponse {
    let Answered { answer, usage, meter } = answered;
    let cost_nano_usd = meter.cost_nano_usd;
    attempts.push(meter);
    let (output, finish) = (answer.output, answer.finish);
    ModelResponse { output, finish, usage, cost_nano_usd, attempts }
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
        let known = self.settings.profiles.get(model).or(self.settings.default_profile.as_ref());
        known.cloned().ok_or_else(|| {
            let message = "this session has no profile of the model; build it with `profile` or \
                           `default_profile`";
            PortFailure::not_sent(PortFailureKind::NotFound, "MODEL_NOT_FOUND", message)
        })
    }
}
