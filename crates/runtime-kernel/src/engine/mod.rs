//! The cycle engine's driver: performs the effects of `runtime-decision` through the ports.
//!
//! Knows what surrounds a run: its clock, its hooks, who decides and who watches. Refuses to know
//! the rules of a run, which the decision machine holds alone.
//!
//! | word | what it is |
//! |---|---|
//! | [`Agent`], [`AgentBuilder`] | instructions, model, tools, policies, limits, hooks |
//! | [`Task`], [`RunOptions`] | what one run is asked to do, and its names |
//! | [`RunHandle`] | what can be done to a run: steer, cancel, approve, deny, suspend, result |
//! | [`EventStream`] | what it tells |
//! | [`SuspendedRun`] | a run that waits, in this process or elsewhere |
//! | [`SubAgent`], [`SubTaskStatus`] | who an agent may give tasks to, and how these stand |
//! | [`Hook`], [`ApprovalProvider`], [`CycleInputProvider`], [`InterruptionProvider`], [`MemoryProvider`] | code of the embedder that a run calls |
//! | [`AgentTool`], [`EngineSubagents`], [`within_call`] | an agent that works for another: as its tool, or through the port |
//!
//! A tool is whatever is a [`Tool`](runtime_ports::Tool); with the feature `schemars`, an async
//! function with typed arguments is one (`FunctionTool`).
//!
//! Three ways to run a task: [`Agent::run`] gives the result and nothing else; [`Agent::start`] and
//! [`Agent::watch`] give a handle, and the run ends with its last clone; [`Agent::drive`] gives the
//! future itself, for whoever has a task for it.
//!
//! # Examples
//! An agent whose tool is asked about before it runs, and somebody who watches and decides:
//! ```
//! use std::sync::Arc;
//!
//! # use in_memory_fakes::{FakeModel, FakeTool, ModelStep, ToolStep};
//! use runtime_kernel::engine::{Agent, Event, Ruling, RunOptions, Task, ToolPolicy, Watched};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let call = ModelStep::tool_call("c1", "pay", serde_json::json!({ "euros": 12 }));
//! # let model = Arc::new(FakeModel::new([call, ModelStep::text("Paid.")]));
//! # let pay = FakeTool::new("pay", [ToolStep::text("done")]);
//! # let model_name = FakeModel::MODEL;
//! let agent = Agent::builder("clerk", model, model_name)
//!     .instructions("Pay what is owed.")
//!     .tool(pay)
//!     .policy(ToolPolicy::ask_for_effects().with_rule("pay", Ruling::Ask))
//!     .build()?;
//! let (run, mut events) = agent.watch(Task::new("Pay the rent."), RunOptions::default());
//! while let Some(watched) = events.next().await {
//!     let Watched::Event(event) = watched else { continue };
//!     if let Event::ApprovalRequested { request_id, preview, .. } = &event.event {
//!         assert_eq!(&**preview, r#"pay {"euros":12}"#);
//!         run.approve(request_id).await?;
//!     }
//! }
//! let result = run.result().await?.finished()?;
//! assert_eq!(result.final_answer.as_deref(), Some("Paid."));
//! # Ok(())
//! # }
//! ```

mod account;
mod agent;
mod agent_error;
mod agent_tool;
mod answer;
mod audit;
mod audited_call;
mod builder;
mod callback;
mod caller;
mod cancelling;
mod clock;
mod closed_world;
pub(crate) mod contained;
mod context_work;
mod control_tools;
mod driver;
mod effect_name;
mod ends;
mod event_hub;
mod event_stream;
mod hook;
mod in_flight;
mod memory;
mod parts;
mod perform;
mod providers;
mod run_budget;
mod run_handle;
mod run_options;
mod steering;
mod sub_agent;
mod sub_tasks;
mod suspended_run;
mod tool_task;
mod trace_writer;

pub use agent::{Agent, Run};
pub use agent_error::AgentError;
pub use agent_tool::AgentTool;
pub use builder::AgentBuilder;
pub use callback::{CallbackError, RunContext};
pub use caller::within_call;
pub use clock::{Clock, SystemClock, TokioClock};
pub use closed_world::closed_world;
pub use control_tools::{AskUser, TaskFinish};
pub use event_hub::{EventHub, WatchOptions};
pub use event_stream::{EventStream, Watched};
pub use hook::{Hook, HookContext};
pub use memory::MemoryProvider;
pub use providers::{
    ApprovalProvider, CycleInputProvider, InterruptionProvider, ProviderDecision, approvals_from,
    cycle_inputs_from, interruptions_from,
};
pub use run_handle::{
    CancelReport, ControlError, NotCancelled, NotFinished, RunEnd, RunHandle, RunLost,
    SteeringOutcome, SteeringReceipt,
};
pub use run_options::{RunNames, RunOptions};
pub use runtime_decision::{
    Amounts, AnswerError, ApprovalRequest, Attempt, BudgetLimits, BudgetName, BudgetStanding, Call,
    CallEdits, CallResult, CarriedContext, ContextPolicy, CycleRecord, CycleView, DefinitionError,
    DelegationLimits, EVENT_VERSION, Edit, Event, HookDeclaration, HookPoint, HookResult, Ledger,
    LedgerTotals, LoadError, MemoryCall, MemoryDeclaration, MemoryMoment, NoToolPolicy, Plan,
    Refused, RequestEdits, ResultEdits, ResultStatus, ReturnedSteering, Ruling, RunError, RunEvent,
    RunIdentity, RunResult, RunStatus, Shortage, Spent, Task, ToolPolicy, ToolRecord,
};
pub use runtime_ports::ApprovalDecision;
pub use sub_agent::SubAgent;
pub use sub_tasks::{SubTaskState, SubTaskStatus};
pub use suspended_run::SuspendedRun;
pub use trace_writer::TraceLosses;

pub use crate::delegation::EngineSubagents;
