//! An honest in-memory adapter of every port, with scripts and planned faults.
//!
//! Knows the contract of each port and keeps it to the letter; what a fake answers comes from its
//! script, or from the world that it holds in memory. Refuses to know any kernel, any wire format
//! and any real file, clock or process.

mod delta_log;
mod fault_plan;
mod intelligence;
mod model;
mod model_call;
mod model_step;
mod recorder;
mod script;
mod turn;
mod turn_ledger;
mod turn_requests;
mod turn_script;

pub use delta_log::{DeltaLog, RecordedDelta};
pub use fault_plan::{Fault, FaultPlan};
pub use intelligence::{FakeAgentModel, FakeIntelligence, RecordedAnswer};
pub use model::FakeModel;
pub use model_call::{ModelCall, ModelCallEnd};
pub use model_step::ModelStep;
pub use recorder::Recorder;
pub use turn_script::{ScriptedCall, ScriptedUsage, TurnScript, TurnStep};

#[cfg(test)]
mod intelligence_tests;
#[cfg(test)]
mod tests;
