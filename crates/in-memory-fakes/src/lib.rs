//! An honest in-memory adapter of every port, with scripts and planned faults.
//!
//! Knows the contract of each port and keeps it to the letter; what a fake answers comes from its
//! script, or from the world that it holds in memory. Refuses to know any kernel, any wire format
//! and any real file, clock or process.
//!
//! | fake | port | answers from |
//! |---|---|---|
//! | [`FakeModel`] | `ModelSession` | a script of [`ModelStep`]s |
//! | [`FakeIntelligence`] | `Intelligence`, `AgentTurn` | a [`TurnScript`] for each turn |
//! | [`FakeReceiptStore`] | `ReceiptStore` | memory, with owners that can die |
//! | [`FakeWorkspace`] | `WorkspaceSession` | a tree in memory; commands from a script |
//! | [`FakeInteraction`] | `InteractionSession` | a script of [`HumanStep`]s, the test, or nobody |
//! | [`FakeConversation`] | `ConversationSession` | memory |
//! | [`FakeContextAudit`] | `ContextAuditSession` | memory |
//! | [`FakeTrace`] | `TraceSession`, `TraceReader` | memory |
//! | [`FakeSubagent`] | `SubagentSession` | a script of [`SubagentStep`]s, or a function |
//! | [`FakeResources`] | `ResourceSession` | memory |
//! | [`FakeResolver`] | `RuntimeInstanceResolver` | memory |
//! | [`FakeSessionFactory`] | `ExecutionSessionFactory` | [`FakeSessions`], and leases in memory |
//! | [`FakeJournal`] | `ExecutionJournal` | memory; leases lapse on tokio's clock |
//! | [`FakeArtifacts`] | `ArtifactStore` | memory |
//! | [`FakeTool`] | `Tool` | a script of [`ToolStep`]s |
//!
//! All of them:
//! - are cheap to clone; clones share everything;
//! - refuse an operation that was cancelled or is out of time before they do anything;
//! - remember what they were asked (`calls`, `asked`);
//! - fail or take their time where a [`FaultPlan`] says so, before or after the effect;
//! - check on drop, and with `assert_script_done`, that no step of a script is left over or was
//!   missing. A call without a step fails with the code `SCRIPT_EXHAUSTED`.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//!
//! use in_memory_fakes::{FakeModel, ModelStep};
//! use runtime_ports::{
//!     ModelMessage, ModelRequest, ModelRole, ModelSession, OperationContext, ToolSet, Transcript,
//! };
//! use runtime_types::{ExecutionId, OperationId};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let model = FakeModel::new([ModelStep::text("Hello, Ada.").usage(12, 4)]);
//! let operation = OperationContext::root(
//!     OperationId::new("op-1")?,
//!     ExecutionId::new("run-1")?,
//!     Duration::from_secs(10),
//! );
//! let request = ModelRequest {
//!     invocation_id: "inv-1".into(),
//!     model: FakeModel::MODEL.into(),
//!     messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, "I am Ada.")]),
//!     tools: ToolSet::default(),
//!     max_output_tokens: None,
//!     options: Arc::default(),
//! };
//! let answer = model.invoke(&operation, request).await?;
//! assert_eq!(answer.usage.input_tokens, Some(12));
//! assert_eq!(model.requests()[0].messages.len(), 1);
//! model.assert_script_done();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod artifacts;
mod context_audit;
mod conversation;
mod delta_log;
mod fake_port;
mod fault_plan;
mod human_step;
mod intelligence;
mod interaction;
mod journal;
mod kept_prefixes;
mod model;
mod model_call;
mod model_step;
mod receipt_store;
mod recorder;
mod resolver;
mod resources;
mod script;
mod session_factory;
mod sessions;
mod step;
mod subagent;
mod subagent_step;
mod tool;
mod trace;
mod turn;
mod turn_ledger;
mod turn_requests;
mod turn_script;
mod workspace;
mod workspace_path;
mod workspace_tree;

pub use artifacts::{ArtifactCall, FakeArtifacts};
pub use context_audit::{AuditCall, FakeContextAudit};
pub use conversation::{ConversationCall, FakeConversation};
pub use delta_log::{DeltaLog, RecordedDelta};
pub use fake_port::Asked;
pub use fault_plan::{Fault, FaultPlan};
pub use human_step::HumanStep;
pub use intelligence::{FakeAgentModel, FakeIntelligence, RecordedAnswer};
pub use interaction::{FakeInteraction, InteractionCall, InteractionEvent};
pub use journal::{FakeJournal, JournalCall};
pub use model::FakeModel;
pub use model_call::{ModelCall, ModelCallEnd};
pub use model_step::ModelStep;
pub use receipt_store::{FakeReceiptStore, ReceiptCall};
pub use recorder::Recorder;
pub use resolver::{FakeResolver, ResolverCall};
pub use resources::{FakeResources, ResourceCall};
pub use session_factory::{FakeSessionFactory, SessionCall};
pub use sessions::FakeSessions;
pub use step::Step;
pub use subagent::{FakeChild, FakeSubagent, SubagentCall};
pub use subagent_step::SubagentStep;
pub use tool::{FakeTool, ToolStep};
pub use trace::{FakeTrace, TraceCall};
pub use turn_script::{ScriptedCall, ScriptedUsage, TurnScript, TurnStep};
pub use workspace::{CommandEffect, CommandStep, FakeWorkspace, WorkspaceCall};

#[cfg(test)]
mod intelligence_tests;
#[cfg(test)]
mod tests;
