//! The cycle engine, driven over fakes in virtual time.

mod first_runs;
mod stage;
mod surroundings;
