//! The cycle engine, the host-driven agent loops and the tool host; touches the world through ports.
//!
//! Knows when a model is called, when a tool runs, and that every turn that started leaves its
//! receipt. Refuses to know providers, wire formats, prompts, storage and terminals: the ports
//! bring the world, the host brings the application.
//!
//! | entry | what it drives |
//! |---|---|
//! | [`engine::Agent`] | a whole run: cycles of answers and calls, approvals, steering; start here |
//! | [`AgentRuntime::run_session`] | a primary session; its [`SessionHost`] prepares each round |
//! | [`AgentRuntime::run`] | a delegated task in one turn; its [`Host`] runs the tools |
//! | [`RunSubagents`] | tasks that were delegated through a port, by the loop above; by the engine: [`engine::EngineSubagents`] |
//! | [`PartsFactory`] | the ports of executions, from parts that are there already, under leases |
//! | [`ToolHost::execute`] | one call of a [`Tool`](runtime_ports::Tool), for hosts of both loops |
//!
//! With the feature `schemars`, `FunctionTool` makes a tool of an async function with typed
//! arguments, for all three.
//!
//! # Examples
//! That of the engine stands in [`engine`]. A session of one round, over a scripted provider:
//! ```
//! use std::sync::Arc;
//!
//! use in_memory_fakes::{FakeIntelligence, TurnScript};
//! use runtime_kernel::*;
//! use serde_json::json;
//! use uuid::Uuid;
//!
//! struct Notes;
//!
//! impl SessionHost for Notes {
//!     fn prepare_round<'a>(&'a mut self, _round: u64) -> HostFuture<'a, RoundPreparation> {
//!         let input = "How many notes are there?".to_owned();
//!         let prepared = PreparedRound {
//!             provider_input: input.clone(),
//!             input,
//!             continuation: None,
//!             model: "fake-model".to_owned(),
//!             reasoning_effort: String::new(),
//!             tool_description: "count: counts the notes; no arguments".to_owned(),
//!             timeout: None,
//!         };
//!         Box::pin(async move { Ok(RoundPreparation::Run(prepared)) })
//!     }
//!
//!     fn record<'a>(&'a mut self, _event: SessionEvent) -> HostFuture<'a, ()> {
//!         Box::pin(async { Ok(()) })
//!     }
//!
//!     fn execute_tool<'a>(
//!         &'a mut self,
//!         call: anyhow::Result<ToolCall>,
//!         _provider_operation_id: Uuid,
//!     ) -> HostFuture<'a, SessionToolOutcome> {
//!         Box::pin(async move {
//!             Ok(match call {
//!                 Ok(call) if call.name == "count" => SessionToolOutcome::success("3 notes"),
//!                 Ok(_) => SessionToolOutcome::failure("no tool of that name"),
//!                 Err(invalid) => SessionToolOutcome::failure(invalid.to_string()),
//!             })
//!         })
//!     }
//!
//!     fn complete_capture<'a>(
//!         &'a mut self,
//!         _capture: serde_json::Value,
//!         contents: String,
//!     ) -> HostFuture<'a, SessionControl> {
//!         Box::pin(async move { Ok(SessionControl::Complete(Some(contents))) })
//!     }
//!
//!     fn complete_round<'a>(&'a mut self, round: RoundCompletion) -> HostFuture<'a, SessionControl> {
//!         Box::pin(async move { Ok(SessionControl::Complete(Some(round.answer))) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> anyhow::Result<()> {
//! let script = TurnScript::new()
//!     .ktool("count", json!({}), "call-1")
//!     .answered(true, "3 notes")
//!     .complete("There are 3.");
//! let intelligence = FakeIntelligence::new([script]);
//! let runtime = AgentRuntime::new(Arc::new(intelligence.clone()));
//! let request = SessionRunRequest {
//!     user_id: "ada".to_owned(),
//!     operation_id: Uuid::new_v4(),
//!     rounds_used: 0,
//!     round_limit: DEFAULT_ROUND_LIMIT,
//! };
//! let answer = runtime.run_session(request, &mut Notes).await?;
//! assert_eq!(answer.as_deref(), Some("There are 3."));
//! assert_eq!(intelligence.receipts().len(), 1);
//! # Ok(())
//! # }
//! ```

mod accounting;
mod argument_schema;
mod audit_event;
mod breakage;
mod bridge;
mod budget;
mod delegation;
pub mod engine;
#[cfg(feature = "schemars")]
mod function_tool;
mod parts_factory;
mod projection;
mod round_limit;
mod runtime;
mod session;
mod session_host;
mod session_turn;
mod subagent;
mod subagent_error;
mod subagent_host;
mod subagent_turn;
mod tool_host;
mod tool_output;

pub use accounting::AccountingError;
pub use audit_event::AuditEvent;
pub use bridge::ToolCall;
pub use budget::ContextBudget;
pub use delegation::{DelegateHost, RunSubagents, RunTemplate};
#[cfg(feature = "schemars")]
pub use function_tool::{
    FunctionTool, IntoToolReply, Json, NoArguments, ToolContext, ToolError, input_schema,
};
pub use parts_factory::{AnswerSink, Inbox, PartsFactory};
pub use round_limit::{DEFAULT_ROUND_LIMIT, SessionRoundLimitError, is_session_round_limit};
pub use runtime::{AgentRuntime, HostFuture};
/// Derives the schemas of arguments; the version that [`FunctionTool`] takes.
#[cfg(feature = "schemars")]
pub use schemars;
pub use session_host::{
    PreparedRound, ProviderResume, RoundCompletion, RoundPreparation, SessionControl, SessionEvent,
    SessionHost, SessionRunRequest, SessionToolOutcome,
};
pub use subagent_error::SubagentError;
pub use subagent_host::{Host, RunRequest, RunResult, StateUpdate, ToolOutcome};
pub use tool_host::{ServedTool, ToolHost, ToolHostError};
