//! Decides where a comparison runs: all of its threads on one processor.
//!
//! Knows nothing about what is compared. To wake a thread that sleeps on another processor costs
//! several times what a small call does, and whether a server happens to run there changes from one
//! connection to the next.

/// Keeps this thread, and all that it starts from now on, where it is.
#[cfg(target_os = "linux")]
pub(crate) fn stay() {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).expect("a processor that this thread runs on");
}

/// Leaves it to the system.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn stay() {}
