//! Decides what a session asks of its host, and what the host may decide.
//!
//! Knows nothing about prompts, tools, storage or sessions of users: these are the host's.

use std::time::Duration;

use runtime_ports::{AgentContinuation, ModelContext, TokenUsage, UsageReceipt};
use serde_json::Value;
use uuid::Uuid;

use crate::{HostFuture, ToolCall};

/// A session to run, or to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRunRequest {
    /// Who is billed.
    pub user_id: String,
    /// Names the session's operation; cancelling it cancels the turn that is running.
    pub operation_id: Uuid,
    /// Rounds that were taken before; 0 for a new session.
    pub rounds_used: u64,
    /// Most rounds over the whole life of the session, those taken before included; at least 1.
    pub round_limit: u64,
}

/// One round, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRound {
    /// The whole logical input. Only its hash is used.
    pub input: String,
    /// What is sent: what is new for a continued thread, all of it for a fresh one.
    pub provider_input: String,
    /// The thread to go on in; `None` begins a new one.
    pub continuation: Option<AgentContinuation>,
    /// Identifier or alias of the model.
    pub model: String,
    /// Name of the reasoning effort; empty leaves it to the provider.
    pub reasoning_effort: String,
    /// Describes the application's tools to the model.
    pub tool_description: String,
    /// Most time spent waiting for the provider in this round; `None` leaves it to the
    /// intelligence.
    pub timeout: Option<Duration>,
}

/// What the host decides before a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoundPreparation {
    /// Call the model.
    Run(PreparedRound),
    /// The session is over; no model is called.
    Complete(Option<String>),
}

/// What happened, for the host to keep. In the order of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// A turn is about to be started.
    InferenceSubmitted {
        /// Number of the round, from 1, over the whole session.
        round: u64,
        /// SHA-256 of [`PreparedRound::input`], 64 lowercase hex digits.
        manifest_hash: String,
        /// The model as the host named it.
        model: String,
    },
    /// What the provider is about to be sent.
    ProviderInput {
        /// Number of the round.
        round: u64,
        /// All that the caller controlled.
        context: ModelContext,
    },
    /// Tokens of the turn so far.
    UsageUpdated {
        /// Number of the round.
        round: u64,
        /// Cumulative for the turn; unreported fields are `None`.
        usage: TokenUsage,
    },
    /// What the turn cost. Exactly one for each turn that started.
    ProviderReceipt {
        /// Number of the round.
        round: u64,
        /// The last usage that the turn reported itself; `None` when it reported none.
        usage: Option<TokenUsage>,
        /// The settled receipt.
        receipt: Box<UsageReceipt>,
        /// How to go on in the same thread; `None` after an interrupted turn, or without a thread.
        continuation: Option<AgentContinuation>,
    },
}

/// What became of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionToolOutcome {
    /// What the model is told.
    pub text: String,
    /// Whether the model is told of a success.
    pub ok: bool,
    /// Asks for the round's final answer to be given to [`SessionHost::complete_capture`]. Counts
    /// only when `ok`; the latest outcome of the round decides.
    pub capture: Option<Value>,
    /// Ends the session right after the answer was sent, whether `ok` or not.
    pub stop: bool,
    /// Reported as [`RoundCompletion::finish_requested`]; counts only when `ok`.
    pub finish_after_round: bool,
    /// Reported as [`RoundCompletion::emitted_response`]; counts only when `ok`.
    pub emitted_response: bool,
}

impl SessionToolOutcome {
    /// A success that asks for nothing else.
    pub fn success(text: impl Into<String>) -> Self {
        Self { text: text.into(), ok: true, ..Self::default() }
    }

    /// A failure that the model is told about.
    pub fn failure(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// What the host decides before a tool's answer is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum ProviderResume {
    /// Send this outcome and go on with the turn.
    Continue(SessionToolOutcome),
    /// Send nothing and end the session with this answer.
    Complete(Option<String>),
    /// Send nothing, give the turn up and take the next round. For tools whose effect and result
    /// the host has already made durable.
    RestartFresh,
}

/// A round that came to its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundCompletion {
    /// The model's final answer; may be empty.
    pub answer: String,
    /// Whether the model called a tool in this round, validly or not.
    pub used_tool: bool,
    /// Whether a successful tool of this round asked to finish. The loop itself never does.
    pub finish_requested: bool,
    /// Whether a successful tool of this round already gave the user a response.
    pub emitted_response: bool,
}

/// What the host decides after a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionControl {
    /// Take the next round.
    Continue,
    /// The session is over.
    Complete(Option<String>),
}

/// The application's side of a session.
///
/// # Contract
/// Callbacks come one at a time. An error of any of them ends the session; if a turn is open, its
/// receipt is given to [`Self::record`] first.
///
/// # Cancellation
/// The loop never drops a callback's future by itself and races it against nothing: a host that
/// waits watches its own token. When the session's future is dropped, so is the callback's.
pub trait SessionHost: Send {
    /// Prepares round number `round`, counted from 1 over the whole session.
    fn prepare_round<'a>(&'a mut self, round: u64) -> HostFuture<'a, RoundPreparation>;

    /// Keeps an event. The loop goes on when it is kept.
    fn record<'a>(&'a mut self, event: SessionEvent) -> HostFuture<'a, ()>;

    /// Serves a call, or decides what the model is told about an invalid one. The text of the
    /// error of an invalid call is fit for the model. `provider_operation_id` is the turn.
    fn execute_tool<'a>(
        &'a mut self,
        call: anyhow::Result<ToolCall>,
        provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome>;

    /// Decides what happens with an outcome before it is sent. The provided method sends it
    /// unchanged.
    fn prepare_provider_resume<'a>(
        &'a mut self,
        outcome: SessionToolOutcome,
    ) -> HostFuture<'a, ProviderResume> {
        Box::pin(async move { Ok(ProviderResume::Continue(outcome)) })
    }

    /// Takes the final answer of a round in which a tool asked for it; called instead of
    /// [`Self::complete_round`].
    fn complete_capture<'a>(
        &'a mut self,
        capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl>;

    /// Takes the final answer of a round and decides whether another one follows.
    fn complete_round<'a>(
        &'a mut self,
        completion: RoundCompletion,
    ) -> HostFuture<'a, SessionControl>;
}
