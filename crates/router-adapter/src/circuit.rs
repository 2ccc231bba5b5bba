//! Decides whether an endpoint is worth asking, from what calls to it came to.
//!
//! Knows no clock: the time is handed in. Invariant: one that failed so many times in a row is left
//! alone until its cool-down is over, and is then tried by one call at a time.

use std::time::Duration;

use tokio::time::Instant;

use crate::policy::CircuitPolicy;

/// A longer one would leave the range of the clock.
const LONGEST_COOL_DOWN: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What is known of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Circuit {
    /// It is asked freely.
    Closed {
        /// Failures in a row.
        failures: u32,
    },
    /// It is left alone.
    Open {
        /// Until then.
        until: Instant,
    },
    /// One call finds out whether it works again.
    Probed,
}

/// How a call was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Free,
    /// It finds out for all others.
    Probe,
}

/// What a call says about the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// It answers, be it with a refusal.
    Alive,
    /// It cannot be reached, fails, or is silent.
    Failed,
    /// The call says nothing about it.
    Nothing,
}

impl Default for Circuit {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Circuit {
    /// Whether a call would be let in.
    pub(crate) fn admits(self, now: Instant) -> bool {
        match self {
            Self::Closed { .. } => true,
            Self::Open { until } => now >= until,
            Self::Probed => false,
        }
    }

    /// Lets a call in, or not.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<Entry> {
        if self.admits(now) { self.admit_early() } else { None }
    }

    /// Lets a call in even before the cool-down is over, unless another finds out already.
    pub(crate) fn admit_early(&mut self) -> Option<Entry> {
        match self {
            Self::Closed { .. } => Some(Entry::Free),
            Self::Open { .. } => {
                *self = Self::Probed;
                Some(Entry::Probe)
            }
            Self::Probed => None,
        }
    }

    /// Takes what became of a call that was let in.
    pub(crate) fn settle(
        &mut self,
        entry: Entry,
        report: Report,
        now: Instant,
        policy: &CircuitPolicy,
    ) {
        let opened = Self::Open { until: now + policy.cool_down.min(LONGEST_COOL_DOWN) };
        *self = match (*self, entry, report) {
            (_, _, Report::Alive) => Self::default(),
            (Self::Probed, Entry::Probe, Report::Failed) => opened,
            // It is tried again by whoever comes next.
            (Self::Probed, Entry::Probe, Report::Nothing) => Self::Open { until: now },
            (Self::Closed { failures }, _, Report::Failed) => {
                let failures = failures.saturating_add(1);
                if failures >= policy.failures.max(1) { opened } else { Self::Closed { failures } }
            }
            // Calls that began before it opened say nothing new.
            (unchanged, _, _) => unchanged,
        };
    }
}

#[cfg(test)]
mod tests;
