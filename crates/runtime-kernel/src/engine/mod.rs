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
//! | [`Hook`], [`ApprovalProvider`], [`CycleInputProvider`], [`InterruptionProvider`] | code of the embedder that a run calls |

mod agent;
mod agent_error;
mod builder;
mod callback;
mod clock;
mod closed_world;
mod control_tools;
mod driver;
mod effect_name;
mod event_hub;
mod event_stream;
mod hook;
mod in_flight;
mod perform;
mod providers;
mod run_handle;
mod run_options;
mod tool_task;
mod trace_writer;

pub use agent::{Agent, Run};
pub use agent_error::AgentError;
pub use builder::AgentBuilder;
pub use callback::{CallbackError, RunContext};
pub use clock::{Clock, SystemClock, TokioClock};
pub use closed_world::closed_world;
pub use control_tools::{AskUser, TaskFinish};
pub use event_hub::{EventHub, WatchOptions};
pub use event_stream::{EventStream, Watched};
pub use hook::{Hook, HookContext};
pub use providers::{
    ApprovalProvider, CycleInputProvider, InterruptionProvider, ProviderDecision, approvals_from,
    cycle_inputs_from, interruptions_from,
};
pub use run_handle::{
    CancelReport, ControlError, NotFinished, RunEnd, RunHandle, RunLost, SteeringOutcome,
    SteeringReceipt, SuspendedRun,
};
pub use run_options::{RunNames, RunOptions};
pub use runtime_decision::{
    ApprovalRequest, Call, CallEdits, CallResult, CycleRecord, CycleView, Edit, Event,
    HookDeclaration, HookPoint, HookResult, Ledger, LedgerTotals, LoadError, NoToolPolicy, Refused,
    RequestEdits, ResultEdits, ReturnedSteering, Ruling, RunError, RunEvent, RunIdentity,
    RunResult, RunStatus, Task, ToolPolicy, ToolRecord,
};
pub use trace_writer::TraceLosses;
