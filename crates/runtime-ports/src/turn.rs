//! Decides how a host talks with one provider turn.
//!
//! Knows nothing about rounds, sessions or how many requests a turn takes. Invariant: every
//! surfaced call is answered exactly once, and the receipt is settled exactly once.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::{
    AgentContinuation, AgentProvider, ModelToolDefinition, PortFailure, TokenUsage, UsageReceipt,
};

/// What the caller controlled of a turn's first request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelContext {
    /// The input, exactly.
    pub input: String,
    /// Who gets it.
    pub provider: AgentProvider,
    /// The model, in the provider's words.
    pub model: String,
    /// Name of the reasoning effort; empty when left to the provider.
    pub reasoning_effort: String,
    /// Instructions beside the input, if the provider was given any.
    pub instructions: Option<String>,
    /// The tools.
    pub tools: Vec<ModelToolDefinition>,
}

/// The answer to a surfaced tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Whether the call succeeded.
    pub success: bool,
    /// What the model is told.
    pub text: String,
}

/// What a turn has to say next.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentTurnEvent {
    /// A raw record of the transport; for diagnosis only, may be absent.
    TransportInput(Value),
    /// What the caller controlled; once a turn, before the first request leaves.
    ModelContextSubmitted(ModelContext),
    /// More answer text. No result.
    TextDelta(String),
    /// More reasoning text. No result.
    ReasoningDelta(String),
    /// Tokens of the turn so far.
    UsageUpdated(TokenUsage),
    /// The model calls a tool; [`AgentTurn::respond`] must follow.
    ToolCall {
        /// Identity of the call within the turn.
        call_id: String,
        /// Name of the tool, as the model wrote it.
        tool: String,
        /// Arguments, as the model wrote them; raw text as `Value::String` when it did not parse.
        arguments: Value,
    },
    /// The turn is over.
    Completed {
        /// The final answer; may be empty.
        answer: String,
        /// Tokens of the turn, if known.
        usage: Option<TokenUsage>,
        /// The provider's thread, if it has one.
        thread_id: Option<String>,
        /// The provider's name for the turn, if it has one.
        turn_id: Option<String>,
    },
}

/// A turn that failed, or that could not be started.
#[derive(Debug, Clone, Error)]
#[error("{failure}")]
pub struct TurnFailure {
    /// What happened.
    #[source]
    pub failure: PortFailure,
    /// The settled receipt, if a turn had started; `None` for a refused start.
    pub receipt: Option<Box<UsageReceipt>>,
}

impl TurnFailure {
    /// A start that was refused: nothing was sent, no receipt is owed.
    #[must_use]
    pub const fn refused(failure: PortFailure) -> Self {
        Self { failure, receipt: None }
    }
}

/// One interactive provider turn.
///
/// # Contract
/// - `next_event` gives `ModelContextSubmitted` once, before the first request leaves; tool calls
///   one by one in the model's order; `Completed` once; then `None`. While a surfaced call has no
///   answer, asking for the next event is `Conflict`.
/// - After a failure of `next_event` the receipt is settled and in the failure; later calls give
///   `None`.
/// - The turn's timeout covers waits for the provider only, never the host's work.
/// - Dropping an unfinished turn settles its receipt as interrupted, by an owner that outlives it.
///
/// # Cancellation
/// `next_event` is cancel-safe: a dropped call loses no event. Cancel the operation itself with
/// [`Intelligence::cancel`](crate::Intelligence::cancel).
#[async_trait]
pub trait AgentTurn: Send {
    /// Waits for the next event; `None` after `Completed` or a failure.
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure>;

    /// Answers a surfaced call. A second answer, or an unknown id, is `Conflict` and changes
    /// nothing.
    async fn respond(&mut self, call_id: &str, result: ToolResult) -> Result<(), PortFailure>;

    /// Ends the turn where it is and settles its receipt with what was reported. Returns the same
    /// receipt when called again, or after the turn ended otherwise.
    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure>;

    /// The settled receipt; `None` while the turn is open.
    fn receipt(&self) -> Option<&UsageReceipt>;

    /// How to go on in the same thread; `None` before completion, or when there is no thread.
    fn continuation(&self) -> Option<&AgentContinuation>;
}
