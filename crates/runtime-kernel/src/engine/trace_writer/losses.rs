//! Decides what is said of events that could not be kept.
//!
//! Knows nothing about the events.

use runtime_ports::{CommitDisposition, PortFailure};

/// Events of a run that are, or may be, missing in its trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraceLosses {
    /// How many.
    pub events: u64,
    /// Why the first of them was lost. With a commit disposition of `Unknown`, that one may have
    /// been kept.
    pub first: Option<PortFailure>,
    /// Why the latest of them was lost; likewise.
    pub latest: Option<PortFailure>,
}

impl TraceLosses {
    /// Counts one event, unless the failure says that it was kept.
    pub(super) fn add(&mut self, failure: PortFailure) {
        if failure.commit == CommitDisposition::Committed {
            return;
        }
        let code = &*failure.code;
        match self.events {
            0 => tracing::warn!(code, "an event is not in the trace of its run"),
            before => tracing::debug!(code, before, "one more event is not in the trace"),
        }
        self.events += 1;
        self.first.get_or_insert_with(|| failure.clone());
        self.latest = Some(failure);
    }
}
