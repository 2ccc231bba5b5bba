//! What the decoders of model adapters promise, tried on bytes that no server should send.
//!
//! Knows the decoders by name, and the words of their wire formats, so that random bytes get far.
//! Refuses to know how a decoder works: whatever comes out is held against promises alone. No crate
//! depends on it.
//!
//! | file | decides |
//! |---|---|
//! | `target` | what is fuzzed |
//! | `stream`, `played`, `cuts` | what must hold of a stream, however its bytes are cut |
//! | `promises`, `numbers`, `terminal` | what must hold of an answer |
//! | `framing`, `waiting` | what must hold of events and of `Retry-After` |
//! | `cost` | how much memory and time bytes may cost |
//! | `mutation`, `frames`, `vocabulary`, `chance` | which bytes are tried next |
//! | `campaign`, `shrinking`, `caught` | the course of a run, and what a finding is |
//!
//! `cargo xtask fuzz` runs it; `fuzz/` has the same targets for libFuzzer.

mod campaign;
mod caught;
mod chance;
pub mod cost;
mod cuts;
mod frames;
mod framing;
mod mutation;
mod numbers;
mod played;
mod promises;
mod shrinking;
mod stream;
mod target;
mod terminal;
mod vocabulary;
mod waiting;

pub use campaign::{Campaign, Finding, Report};
pub use caught::keep_panics_quiet;
pub use target::{Shape, TARGETS, Target, try_input};
