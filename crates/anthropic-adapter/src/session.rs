//! Decides how a model call becomes requests to one server, and what is told about them.
//!
//! Knows nothing about other servers and about retrying. Invariant: a request is sent once; only a
//! server that refuses an optional part of it by name gets it again, without that part, and every
//! request that reached it is listed.

use std::{collections::HashMap, fmt};

use async_trait::async_trait;
use bytes::Bytes;
use model_wire::{
    Delivery, Exchange, Failed, HttpClient, Profiles, may_send_again, pieces::ToolEncodings,
};
use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind, RequestMeter,
};
use serde_json::{Value, json};

use crate::{
    body::{self, Keys, Marks, Turns},
    builder::{AnthropicSessionBuilder, PromptCache},
    family::ModelFamily,
    ids::is_tool_name,
    models,
    options::Asked,
    refused::{Parts, Refused},
    standing::Standing,
    stream::MessageStream,
};

/// Most pages of a list of models that are asked for.
const MOST_PAGES: usize = 10;

/// What the builder settled.
pub(crate) struct Settings {
    pub(crate) delivery: Delivery,
    pub(crate) cache: PromptCache,
    pub(crate) one_call_at_a_time: bool,
    pub(crate) standing: Standing,
    pub(crate) issuer: String,
    pub(crate) families: HashMap<String, ModelFamily>,
    pub(crate) profiles: Profiles,
}

/// A [`ModelSession`] over one server that speaks the Messages API.
///
/// ```no_run
/// use anthropic_adapter::AnthropicSession;
/// use runtime_types::CredentialHandle;
///
/// # fn main() -> Result<(), anthropic_adapter::BuildError> {
/// let session = AnthropicSession::builder("https://api.anthropic.com/v1")
///     .credential(CredentialHandle::new("sk-very-secret"))
///     .build()?;
/// assert!(!format!("{session:?}").contains("secret"));
/// # Ok(())
/// # }
/// ```
pub struct AnthropicSession {
    client: HttpClient,
    settings: Settings,
    keys: Keys,
    refused: Refused,
    marked_tools: ToolEncodings,
    plain_tools: ToolEncodings,
}

impl fmt::Debug for AnthropicSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AnthropicSession")
            .field("client", &self.client)
            .field("issuer", &self.settings.issuer)
            .finish_non_exhaustive()
    }
}

/// What a request says beside its messages.
struct Settled {
    family: ModelFamily,
    fields: Vec<(&'static str, Value)>,
}

impl AnthropicSession {
    /// Begins a session with the server at `base_url`, for example `https://api.anthropic.com/v1`.
    /// The paths of the API are appended; a query is kept.
    pub fn builder(base_url: impl Into<String>) -> AnthropicSessionBuilder {
        AnthropicSessionBuilder::new(base_url)
    }

    pub(crate) fn new(client: HttpClient, settings: Settings) -> Self {
        Self {
            client,
            keys: Keys::of(&settings.issuer),
            settings,
            refused: Refused::default(),
            marked_tools: ToolEncodings::default(),
            plain_tools: ToolEncodings::default(),
        }
    }

    /// Names of the models that the server lists, in its order.
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
        let exchange = Exchange { client: &self.client, operation, sink: &DiscardDeltas };
        exchange.list(models::FIRST, MOST_PAGES, models::page).await
    }

    async fn call(
        &self,
        operation: &OperationContext,
        request: &ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        operation.remaining()?;
        let settled = self.settle(request)?;
        let exchange = Exchange { client: &self.client, operation, sink };
        let mut attempts = Vec::new();
        loop {
            let parts = self.refused.parts(&request.messages, self.marks());
            let parts = Parts { thinks: parts.thinks && settled.thinks(), ..parts };
            let body = self.body(request, &settled, parts)?;
            let (issuer, seed) = (&self.settings.issuer, &request.invocation_id);
            let decoder = Box::new(MessageStream::new(issuer, seed, parts.marks));
            match exchange.run("messages", body, decoder).await {
                Ok(answered) => return Ok(answered.into_response(attempts)),
                Err(failed) => self.learn(failed, request, parts, &mut attempts)?,
            }
        }
    }

    /// Remembers an optional part that the server refuses, so that the request can be sent without
    /// it; any other failure ends the call.
    fn learn(
        &self,
        failed: Failed,
        request: &ModelRequest,
        parts: Parts,
        attempts: &mut Vec<RequestMeter>,
    ) -> Result<(), PortFailure> {
        attempts.extend(failed.meter);
        let learn = |refusal| self.refused.learn(&refusal, &request.messages, parts);
        // What is learnt serves the next call, even where this one may send nothing more.
        let is_mended = failed.refusal.is_some_and(learn);
        if is_mended && may_send_again(attempts.len()) {
            return Ok(());
        }
        Err(failed.failure.with_attempts(std::mem::take(attempts)))
    }

    fn marks(&self) -> Marks {
        match self.settings.cache {
            PromptCache::Marked => Marks::Set,
            PromptCache::Off => Marks::Left,
        }
    }

    fn settle(&self, request: &ModelRequest) -> Result<Settled, PortFailure> {
        let family = self.settings.families.get(&*request.model).copied();
        let family = family.unwrap_or_else(|| ModelFamily::of(&request.model));
        let known = self.settings.profiles.get(&request.model);
        let known = known.and_then(|profile| profile.max_output_tokens);
        let asked = Asked {
            options: &request.options,
            family,
            limit: request.max_output_tokens.map(u64::from).or(known),
            has_tools: !request.tools.is_empty(),
            one_call_at_a_time: self.settings.one_call_at_a_time,
            standing: &self.settings.standing,
        };
        if !request.tools.iter().all(|tool| is_tool_name(&tool.name)) {
            return Err(invalid(
                "a tool has a name that the messages api does not take; use letters, digits, _ \
                 and -, at most 128",
            ));
        }
        let mut fields = asked.fields().map_err(invalid)?;
        if self.settings.delivery == Delivery::Streamed {
            fields.push(("stream", true.into()));
        }
        Ok(Settled { family, fields })
    }

    fn body(
        &self,
        request: &ModelRequest,
        settled: &Settled,
        parts: Parts,
    ) -> Result<Bytes, PortFailure> {
        let issuer = &self.settings.issuer;
        let turns = Turns::of(&request.messages, &self.keys, issuer, parts.bare);
        if turns.is_empty() {
            return Err(invalid("the history holds nothing to answer; add a message of the user"));
        }
        let (model, marks, mut fields) = (&request.model, parts.marks, settled.fields.clone());
        if !parts.thinks {
            fields.retain(|(name, value)| !is_told_to_think(name, value));
        }
        if !request.tools.is_empty() {
            let kept = if marks == Marks::Set { &self.marked_tools } else { &self.plain_tools };
            let tools = kept.encoding(&request.tools, || body::tools(&request.tools, marks));
            return Ok(turns.body(model, &fields, Some(&tools), marks));
        }
        if settled.family.results_need_tools && turns.has_results() {
            fields.push(("tool_choice", json!({"type": "none"})));
            return Ok(turns.body(model, &fields, Some(&body::no_tools()), marks));
        }
        Ok(turns.body(model, &fields, None, marks))
    }
}

impl Settled {
    /// Whether the model is told to think in each turn.
    fn thinks(&self) -> bool {
        self.fields.iter().any(|(name, value)| is_told_to_think(name, value))
    }
}

fn is_told_to_think(name: &str, value: &Value) -> bool {
    name == "thinking" && value["type"] == "enabled"
}

fn invalid(problem: &str) -> PortFailure {
    PortFailure::not_sent(PortFailureKind::Invalid, "INVALID_REQUEST", problem)
}

#[async_trait]
impl ModelSession for AnthropicSession {
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
