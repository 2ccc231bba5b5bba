//! The named scenarios that every adapter of a port must hold, and the macros that make a test of
//! each.
//!
//! Knows the contracts of `runtime-ports`, sentence by sentence. Refuses to know any adapter: a
//! harness, written once by who writes the adapter, makes the subject and the world around it.

mod claim;
mod expansion;
mod scenario;

pub mod interaction;
pub mod model;
pub mod receipts;
pub mod registry;
pub mod turn;
pub mod workspace;

pub use scenario::{
    Broken, Declares, Proof, SCENARIO_LIMIT, Scenario, ScenarioFuture, Unstageable, Verdict, check,
};
