//! The cycle engine's driver: performs the effects of `runtime-decision` through the ports.
//!
//! Knows what surrounds a run: its clock, its hooks, who decides and who watches. Refuses to know
//! the rules of a run, which the decision machine holds alone.

// The driver's parts, until the driver uses all of them.
#![allow(dead_code)]

mod callback;
mod clock;
mod closed_world;
mod control_tools;
mod event_hub;
mod event_stream;
mod hook;
mod providers;
mod trace_writer;

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
pub use trace_writer::TraceLosses;
