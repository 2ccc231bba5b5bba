//! Decides what a single-turn subagent run asks of its host, and what the host gives back.
//!
//! Knows nothing about providers or how the run is driven. Prompts, tools, authorization and
//! durable audit belong to the host.

use std::time::Duration;

use runtime_ports::ResolvedAgentModel;
use serde_json::Value;
use uuid::Uuid;

use crate::{AuditEvent, ContextBudget, HostFuture, ToolCall};

/// A change of one replaceable value in the subagent's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateUpdate {
    /// Stable identity of the value: a later update replaces an earlier one.
    pub key: String,
    /// The whole new value; `None` removes it.
    pub text: Option<String>,
}

/// What a tool call came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutcome {
    /// The result, for the model.
    pub text: String,
    /// Whether the call succeeded. Of a failed call only the text counts.
    pub ok: bool,
    /// Changes of the context's values, in order.
    pub state_updates: Vec<StateUpdate>,
    /// Keys whose complete current values `text` shows; they are not written a second time, and
    /// `text` gives way to a marker when one of them is updated.
    pub displayed_state_keys: Vec<String>,
    /// Makes the turn's final answer the contents of this token, for [`Host::complete_capture`].
    pub capture: Option<Value>,
}

impl ToolOutcome {
    /// A success that changes no state.
    pub fn success(text: impl Into<String>) -> Self {
        Self { text: text.into(), ok: true, ..Self::default() }
    }

    /// A failure that the model is told about.
    pub fn failure(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// What a subagent run needs of its application.
///
/// # Contract
/// - Calls come one at a time, in the order in which the provider surfaced them.
/// - An error of [`execute_tool`](Self::execute_tool) is told to the model and the run goes on; an
///   error of any other method ends the run, after the receipt was recorded.
///
/// # Cancellation
/// The run never drops or races a host future by itself; a host that must be interruptible watches
/// a token of its own. When the run is dropped, the host future is dropped with it.
pub trait Host: Send {
    /// How the call appears in the context; may be empty.
    ///
    /// # Errors
    /// Ends the run.
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String>;

    /// Runs a tool. `operation_id` names the provider turn that asks.
    ///
    /// # Errors
    /// Become a failed outcome that names the tool. A
    /// [`PortFailure`](runtime_ports::PortFailure) among the causes tells the model whether the
    /// effect took place; without one it is told that nobody knows.
    fn execute_tool<'a>(
        &'a mut self,
        call: ToolCall,
        operation_id: Uuid,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome>;

    /// Takes the final answer as the contents that `capture` asked for. The outcome's text is the
    /// answer of the run.
    ///
    /// # Errors
    /// End the run.
    fn complete_capture<'a>(
        &'a mut self,
        capture: Value,
        contents: String,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome>;

    /// Keeps an event.
    ///
    /// # Errors
    /// End the run.
    fn record(&mut self, event: AuditEvent) -> anyhow::Result<()>;
}

/// A subagent run to make.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    /// Who is billed.
    pub user_id: String,
    /// The operation whose cancellation cancels the run.
    pub parent_operation_id: Uuid,
    /// Identifier or alias of the model.
    pub model: String,
    /// Name of the reasoning effort; empty leaves it to the provider.
    pub reasoning_effort: String,
    /// Sections of the context that never change; empty ones are skipped.
    pub context: Vec<String>,
    /// What to do.
    pub task: String,
    /// Most time spent waiting for the provider; `None` leaves it to the provider's adapter.
    pub timeout: Option<Duration>,
    /// The host's own facts, recorded as they are with [`AuditEvent::Started`].
    pub start_metadata: Value,
}

/// What a subagent run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// The answer, trimmed; never empty.
    pub answer: String,
    /// The model that gave it.
    pub model: ResolvedAgentModel,
}
