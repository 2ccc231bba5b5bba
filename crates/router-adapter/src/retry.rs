//! Decides whether a failed model call is sent again, and when.
//!
//! Knows no clock, no randomness and no provider: what it needs is handed in. Invariant: after
//! something was committed nothing is repeated; after an unknown outcome one call at most, and only
//! when the provider said that it could not serve.

use std::time::Duration;

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind};

const MOST_ATTEMPTS: u32 = 3;
const LONGEST_ASKED_WAIT: Duration = Duration::from_secs(60);
const FIRST_BACKOFF: Duration = Duration::from_millis(500);

/// What happened to one model call so far.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    attempts: u32,
    after_unknown: bool,
}

/// The circumstances of a failure.
pub(crate) struct Circumstances {
    /// Whether a delta of the failed attempt reached the caller.
    pub(crate) delta_delivered: bool,
    /// Time until the deadline.
    pub(crate) left: Duration,
    /// A random number from 0 (inclusive) to 1.
    pub(crate) jitter: f64,
}

/// What to do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    GiveUp,
    SendAgain { wait: Duration },
}

impl Retries {
    /// Judges a failure, and remembers it.
    pub(crate) fn judge(&mut self, failure: &PortFailure, at: &Circumstances) -> Verdict {
        let requests = u32::try_from(failure.attempts.len()).unwrap_or(u32::MAX);
        self.attempts = self.attempts.saturating_add(requests.max(1));
        let permitted = self.permits(failure, at);
        self.after_unknown |= failure.commit == CommitDisposition::Unknown;
        let wait = self.wait(failure, at.jitter);
        if permitted && wait < at.left { Verdict::SendAgain { wait } } else { Verdict::GiveUp }
    }

    fn permits(&self, failure: &PortFailure, at: &Circumstances) -> bool {
        let may_pass = failure.retryable && self.attempts < MOST_ATTEMPTS;
        may_pass && !self.after_unknown && !at.delta_delivered && is_safe_to_repeat(failure)
    }

    /// What the provider asked for, bounded, and on top a random part of a backoff that doubles.
    fn wait(&self, failure: &PortFailure, jitter: f64) -> Duration {
        let asked = failure.retry_after.unwrap_or_default().min(LONGEST_ASKED_WAIT);
        let doublings = self.attempts.clamp(1, MOST_ATTEMPTS) - 1;
        let backoff = FIRST_BACKOFF * 2u32.pow(doublings);
        asked + backoff.mul_f64(jitter.clamp(0.0, 1.0))
    }
}

fn is_safe_to_repeat(failure: &PortFailure) -> bool {
    match failure.commit {
        CommitDisposition::NotCommitted => true,
        CommitDisposition::Unknown => failure.kind == PortFailureKind::Unavailable,
        CommitDisposition::Committed => false,
    }
}

#[cfg(test)]
mod tests;
