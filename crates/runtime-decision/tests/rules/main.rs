//! Decides whether the machine keeps the rules of a run: each section of them has a file here, and
//! each test is named by its section.
//!
//! Scripts are written in the words of [`notation`]. Beside them: the grid of phases and inputs,
//! properties over random runs, and the forms in which things are stored.

mod answers;
mod complaints;
mod grid;
mod notation;
mod properties;
mod random;
mod read_again;
mod repair;
mod resources;
mod s01_inputs;
mod s02_cycle;
mod s02_stopping;
mod s02_suspension;
mod s03_steering;
mod s04_batch;
mod s05_approval;
mod s06_silence;
mod s07_audit;
mod s07_compaction;
mod s07_memory;
mod s07_overlong;
mod s07_summaries;
mod s07_whole;
mod s08_batches;
mod s08_budgets;
mod s08_lives;
mod s08_summaries;
mod s09_background;
mod s09_children;
mod s09_compacted;
mod s09_stored;
mod s10_events;
mod s12_cases;
mod stored;
