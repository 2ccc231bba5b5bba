//! What a cycle of the engine allocates, and what a run keeps, does not depend on what was before.
//!
//! In a binary of its own: its allocator counts.

mod compaction;
mod counting;
mod cycles;
mod idle;

#[path = "../../benches/cycles/long_history.rs"]
mod long_history;
#[path = "../../benches/cycles/scripted.rs"]
mod scripted;
