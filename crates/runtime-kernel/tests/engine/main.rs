//! The cycle engine, driven over fakes in virtual time.

mod agent_as_tool;
mod answers;
mod anywhere;
mod bait;
mod budgets;
mod complaints;
mod context;
mod crowd;
mod disturb;
mod first_runs;
mod gates;
mod golden;
mod halting;
mod limits;
mod long_output;
mod misbehaviour;
mod oracle;
mod probe;
mod resources;
mod rogue;
mod scenario;
mod stage;
mod stored_runs;
mod surroundings;
mod threads;
mod truth;
