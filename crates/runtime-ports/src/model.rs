//! Decides what one model call asks, what it answers, and what it streams.
//!
//! Knows nothing about providers, retries or routing. Invariant: an answer that was cut is `Ok`
//! with [`ModelFinish::Length`] and carries no tool call, so that nothing runs from it.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    Digest, GenerationOptions, ModelContent, OperationContext, PortFailure, RequestMeter,
    TokenUsage, ToolSet, Transcript,
};

/// One model call. Cloning it costs reference counts only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequest {
    /// The same for all transport attempts of the same bytes within one life of a run; a changed
    /// request, or one that is sent again after a resume, has another. It correlates audit
    /// records; it is no permission to repeat a call whose disposition is unknown.
    pub invocation_id: Arc<str>,
    /// The model, in the words of the session that gets this request.
    pub model: Arc<str>,
    /// The whole history, oldest message first.
    pub messages: Transcript,
    /// The tools that the model may call.
    pub tools: ToolSet,
    /// Most tokens to generate; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// The typed knobs.
    pub options: Arc<GenerationOptions>,
}

impl ModelRequest {
    /// SHA-256 over the chained message digest, the tool set digest, the output reservation and
    /// the options: what identifies the request for audit. Independent of `invocation_id` and
    /// `model`; costs nothing that grows with the history.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let reservation = self.max_output_tokens.map_or(u64::MAX, u64::from).to_be_bytes();
        Digest::of_parts(&[
            b"agent-runtime request v1",
            self.messages.digest().as_bytes(),
            self.tools.digest().as_bytes(),
            &reservation,
            Digest::of_json(&self.options).as_bytes(),
        ])
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelFinish {
    /// The answer is complete.
    Stop,
    /// The answer asks for tools.
    ToolCalls,
    /// The answer was cut at a length limit.
    Length,
    /// A content filter cut the answer, or the model refused.
    ContentFilter,
    /// The provider gave a reason that is none of these.
    Other,
}

impl ModelFinish {
    /// Whether the answer may be acted on.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Stop | Self::ToolCalls)
    }
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelResponse {
    /// What the model said, in order: text, tool calls, reasoning.
    pub output: Vec<ModelContent>,
    /// Why it stopped.
    pub finish: ModelFinish,
    /// Tokens of the request that produced this answer.
    pub usage: TokenUsage,
    /// What the provider says the request cost, in nano-dollars; `None` when it does not say.
    pub cost_nano_usd: Option<u64>,
    /// Every request that reached the provider, the answered one last.
    pub attempts: Vec<RequestMeter>,
}

/// A piece of an answer while it is being generated. Not a result: nothing may be executed,
/// journalled or traced from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelDelta<'a> {
    /// More answer text.
    Text(&'a str),
    /// More reasoning text.
    Reasoning(&'a str),
    /// A tool call begins.
    ToolCall {
        /// Position of the call in the answer, from 0.
        index: u32,
        /// Identity of the call.
        id: &'a str,
        /// Name of the tool.
        name: &'a str,
    },
    /// More of a tool call's arguments.
    ToolArguments {
        /// Position of the call in the answer, from 0.
        index: u32,
        /// A piece of JSON text.
        fragment: &'a str,
    },
    /// Voids every delta before it: the answer starts again.
    Restarted,
}

/// Takes deltas.
///
/// # Contract
/// Deltas come in the order of the answer. Taking one returns quickly, never blocks, and has no way
/// to fail.
///
/// # Cancellation
/// An answer that was broken off stops giving deltas; nothing says so here. What counts is what
/// the call itself returns.
pub trait DeltaSink: Send + Sync {
    /// Takes one delta, in order.
    fn delta(&self, delta: ModelDelta<'_>);
}

/// A sink for callers that do not watch.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiscardDeltas;

impl DeltaSink for DiscardDeltas {
    fn delta(&self, _delta: ModelDelta<'_>) {}
}

/// What a request may hold and what it costs, for one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelProfile {
    /// Tokens of prompt and answer together.
    pub context_window_tokens: u64,
    /// Most tokens of prompt.
    pub max_input_tokens: u64,
    /// Most tokens of answer; `None` when the provider does not say.
    pub max_output_tokens: Option<u64>,
    /// Whether the model takes images.
    pub images: bool,
    /// `None` when no price is known; a cost is then unknown, not zero.
    pub price: Option<Price>,
}

/// Nano-dollars per million tokens. A kind of token without a price of its own is billed as what
/// it is part of (`input`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    /// Prompt tokens that came from no cache.
    pub input: u64,
    /// Prompt tokens read from a cache.
    pub cached_input: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_write: Option<u64>,
    /// Answer tokens, reasoning included.
    pub output: u64,
}

impl Price {
    /// Cost of `usage` in nano-dollars, rounded up; `None` when a count that the price needs is
    /// unknown, contradictory, or too large for the result.
    ///
    /// ```
    /// use runtime_ports::{Price, TokenUsage};
    ///
    /// let price = Price { input: 1_000_000_000, cached_input: None, cache_write: None, output: 2_000_000_000 };
    /// let usage = TokenUsage { input_tokens: Some(10), output_tokens: Some(1), ..TokenUsage::default() };
    /// assert_eq!(price.cost_nano_usd(&usage), Some(12_000));
    /// assert_eq!(price.cost_nano_usd(&TokenUsage::default()), None);
    /// ```
    #[must_use]
    pub fn cost_nano_usd(&self, usage: &TokenUsage) -> Option<u64> {
        let cached = split(self.cached_input, self.input, usage.cached_input_tokens)?;
        let written = split(self.cache_write, self.input, usage.cache_write_tokens)?;
        let plain = usage.input_tokens?.checked_sub(cached.0)?.checked_sub(written.0)?;
        let parts = [(plain, self.input), cached, written, (usage.output_tokens?, self.output)];
        let total = parts.iter().try_fold(0u128, |sum, &(tokens, price)| {
            sum.checked_add(u128::from(tokens) * u128::from(price))
        })?;
        u64::try_from(total.div_ceil(1_000_000)).ok()
    }
}

/// Tokens of a part with its own price. Without a price of its own, or with the same one, the part
/// needs no count; with one, an unknown count makes the cost unknown.
fn split(own: Option<u64>, whole: u64, tokens: Option<u64>) -> Option<(u64, u64)> {
    match own.filter(|price| *price != whole) {
        None => Some((0, whole)),
        Some(price) => tokens.map(|tokens| (tokens, price)),
    }
}

/// One model, or many behind one name.
///
/// # Contract
/// - Sends at most what `request` says, and retries nothing: repeating is the caller's decision,
///   on the commit disposition of the failure. (A request feature that the server refuses with a
///   4xx, or ignores before anything of an answer came, may be left out once; all requests are
///   listed in `attempts`.) Never more requests than
///   [`most_requests`](crate::most_requests) says, the first excepted.
/// - Every tool call has a nonempty id, unique within the response; calls keep the model's order.
/// - An answer that was cut has `finish: Length` and no [`ModelContent::ToolUse`]; arguments that
///   end early make the answer cut. Arguments that do not parse arrive as `Value::String`.
/// - Usage fields that the provider did not report are `None`.
/// - `attempts` lists every request that reached the provider, also in a failure.
///
/// # Cancellation
/// Ends soon after the operation is cancelled or its deadline passes, while connecting, waiting or
/// reading. Dropping the future closes the connection. What was sent before is then unknown.
///
/// # Errors
/// Refused before sending, or by the provider: not committed. Cut after sending: unknown.
/// [`Unavailable`](crate::PortFailureKind::Unavailable) with an unknown outcome means that the
/// provider answered that it cannot serve, before anything of an answer; a connection that was lost
/// after sending, and an error amid an answer, is [`Protocol`](crate::PortFailureKind::Protocol),
/// since only the former may be repeated once.
/// [`ContextOverflow`](crate::PortFailureKind::ContextOverflow) and
/// [`OutputLimit`](crate::PortFailureKind::OutputLimit) are told apart from `Invalid` and
/// `RateLimited`.
#[async_trait]
pub trait ModelSession: Send + Sync {
    /// Calls the model and waits for the whole answer.
    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure>;

    /// Calls the model and tells `sink` about the answer while it is generated. The answer is the
    /// returned value alone. The provided method calls [`Self::invoke`], then gives one delta for
    /// each item.
    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        let response = self.invoke(operation, request).await?;
        replay_as_deltas(&response.output, sink);
        Ok(response)
    }

    /// What requests to `model` may hold. Asked once a run.
    ///
    /// # Errors
    /// `NotFound` when the session does not serve that model.
    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure>;

    /// Whose [`ModelContent::Reasoning`] the session takes back: the `issuer` of that which it
    /// gives. `None` when it does not say; whoever routes between sessions can then not tell what
    /// this one leaves out.
    fn issuer(&self) -> Option<&str> {
        None
    }
}

fn replay_as_deltas(output: &[ModelContent], sink: &dyn DeltaSink) {
    let mut index = 0;
    for content in output {
        match content {
            ModelContent::Text { text } => sink.delta(ModelDelta::Text(text)),
            ModelContent::Reasoning { text, .. } => sink.delta(ModelDelta::Reasoning(text)),
            ModelContent::ToolUse { id, name, arguments } => {
                sink.delta(ModelDelta::ToolCall { index, id, name });
                let fragment = &arguments.to_string();
                sink.delta(ModelDelta::ToolArguments { index, fragment });
                index += 1;
            }
            ModelContent::ToolResult { .. } | ModelContent::Image { .. } => {}
        }
    }
}
