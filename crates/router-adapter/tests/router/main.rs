//! The router as its hosts see it: turns, repeats, time, receipts under faults, drops and crashes.
//!
//! The provider is the scripted model, the store the one in memory; time is tokio's, paused.

mod any_failures;
mod bounded_receipts;
mod broken_answers;
mod building;
mod dearest;
mod drops;
mod extreme_policies;
mod failover;
mod greedy;
mod hostile;
mod hostile_stores;
mod races;
mod receipts;
mod regressions;
mod retries;
mod rogue;
mod sessions;
mod shared_circuits;
mod skipped_pauses;
mod stage;
mod switching;
mod time;
mod truth;
mod turns;
