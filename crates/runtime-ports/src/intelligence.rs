//! Decides how a provider turn is asked for, named and cancelled.
//!
//! Knows nothing about how a provider is reached. Invariant: a model is resolved exactly or not at
//! all; nothing is guessed.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{AgentTurn, ModelToolDefinition, PortFailure, TurnFailure};

/// Most requests of a turn when nobody says otherwise.
pub const DEFAULT_MAX_REQUESTS: u32 = 250;

/// Name of a provider, as the catalogue writes it. No provider is known to this crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentProvider(String);

impl AgentProvider {
    /// A provider of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What a later turn needs to go on in the same thread. Bound to one provider and one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentContinuation {
    /// Who holds the thread.
    pub provider: AgentProvider,
    /// The model of the thread, in the provider's words.
    pub provider_model: String,
    /// The thread.
    pub thread_id: String,
}

/// A model that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedAgentModel {
    /// What was asked for.
    pub requested_model: String,
    /// What will be called, in the provider's words.
    pub provider_model: String,
    /// Who serves it.
    pub provider: AgentProvider,
    /// Tokens of prompt and answer together.
    pub context_window_tokens: u64,
    /// Most tokens of prompt.
    pub max_input_tokens: u64,
}

/// What a turn is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTurnRequest {
    /// Identifier or alias of the model.
    pub model: String,
    /// Name of the reasoning effort; empty leaves it to the provider.
    pub reasoning_effort: String,
    /// The new input: all of it for a fresh thread, what is new for a continued one.
    pub input: String,
    /// The tools that the model may call.
    pub tools: Vec<ModelToolDefinition>,
    /// Most time spent waiting for the provider, over the whole turn; `None`: 30 minutes a request.
    pub timeout: Option<Duration>,
    /// Whether the thread may be forgotten when the turn ends.
    pub ephemeral: bool,
    /// Most requests that the turn may make; [`DEFAULT_MAX_REQUESTS`] is the usual value.
    pub max_requests: u32,
}

/// A turn to start.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnStart {
    /// Who is billed.
    pub user_id: String,
    /// Names the turn; a fresh id each time.
    pub operation_id: Uuid,
    /// The operation whose cancellation cancels the turn.
    pub parent_operation_id: Option<Uuid>,
    /// The thread to go on in; `None` begins a new one.
    pub continuation: Option<AgentContinuation>,
    /// What to do.
    pub request: AgentTurnRequest,
}

/// Resolves models and runs interactive turns.
///
/// # Contract
/// - `resolve_agent_model` takes an exact identifier or a catalogue alias; anything else is
///   `NotFound`.
/// - `start_agent_turn` registers the operation under its parent. An id that is already running is
///   `Conflict`; a continuation of another provider or model is `Invalid`; an unknown thread is
///   `NotFound`; all before anything is sent, and without a receipt.
/// - Every turn that was returned leaves exactly one [`UsageReceipt`](crate::UsageReceipt),
///   whatever happens to it, a drop included.
/// - `cancel` ends the operation and all of its descendants, and says whether something was
///   running. It is sticky: a later start under that id is `Canceled`, without a receipt.
///
/// # Cancellation
/// Operations are named by UUID and ended with [`Self::cancel`]. A dropped start leaves no running
/// turn; if a provider may have been reached, a receipt is left.
#[async_trait]
pub trait Intelligence: Send + Sync {
    /// Finds a model.
    async fn resolve_agent_model(&self, requested: &str)
    -> Result<ResolvedAgentModel, PortFailure>;

    /// Starts a turn.
    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure>;

    /// Cancels an operation and its descendants. True if something was running. Idempotent.
    async fn cancel(&self, operation_id: Uuid) -> Result<bool, PortFailure>;
}
