//! Decides which planned faults stand for a trouble of a store.
//!
//! Knows no store: only the name of its call.

use in_memory_fakes::{Fault, FaultPlan};
use port_conformance::Trouble;
use runtime_ports::{PortFailure, PortFailureKind::Unavailable};

/// Plans the trouble for the call after the first `calls` ones.
pub(super) fn plan(plan: &FaultPlan, name: &str, calls: usize, trouble: Trouble) {
    let (plan, nth) = (plan.clone(), calls as u64 + 1);
    match trouble {
        Trouble::Slow(time) => {
            let half = || Fault::Delay(time / 2);
            plan.before(name, nth, half()).after(name, nth, half())
        }
        Trouble::Refused => {
            let full = PortFailure::not_sent(Unavailable, "DISK_FULL", "the disk is full");
            plan.before(name, nth, full)
        }
        Trouble::ReplyLost => {
            let message = "the connection was lost";
            plan.after(name, nth, PortFailure::in_flight_unknown(Unavailable, "LOST", message))
        }
    };
}
