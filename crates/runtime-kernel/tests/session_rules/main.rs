//! The rules of the primary session loop, by number, and what faults leave behind.
//!
//! Every test is a [`scenario::Scenario`]: scripts of turns, decisions of the host, and one log of
//! what the host saw.

mod drop_anywhere;
mod host_faults;
mod regressions;
mod rules_answers;
mod rules_events;
mod rules_failures;
mod rules_rounds;
mod rules_tools;
mod scenario;
mod test_host;
mod yielding;
