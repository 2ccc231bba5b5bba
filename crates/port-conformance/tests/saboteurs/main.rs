//! One saboteur for each port: a wrapper around its fake that does one thing wrong.
//!
//! Proves that the suites can fail. Without a fault every scenario holds; each fault breaks a
//! scenario, and each scenario falls to a fault. A panic is no proof: only a broken claim counts.
//! Beside the saboteurs of stores stands a sound one of another make, which the suite must allow.

#[path = "../../../in-memory-fakes/tests/harness/mod.rs"]
mod harness;

mod artifacts;
mod context_audit;
mod conversation;
mod delegation;
mod interaction;
mod matrix;
mod model;
mod receipts;
mod resources;
mod subagents;
mod trace;
mod turn;
mod workspace;
