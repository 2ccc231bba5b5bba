//! Decides whether a failed model call is sent again, where, and when.
//!
//! Knows no clock, no randomness and no provider: what it needs is handed in. Invariant: after
//! something was committed nothing is repeated; after an unknown outcome one attempt at most, and
//! only where the policy says so; never more than three requests, whoever makes them.

use std::time::Duration;

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind};

use crate::policy::{LONGEST_WAIT, MOST_ATTEMPTS, RetryPolicy, UnknownOutcomes};

const FIRST_BACKOFF: Duration = Duration::from_millis(500);

/// Codes of failures of this side: a recording that does not fit or cannot be written. Another
/// provider would fail of them too, and would hide the reason.
const OWN_FAULTS: [&str; 2] = ["REPLAY_MISMATCH", "TAPE_FAILED"];

/// Attempts at one candidate before another one is preferred.
const ENOUGH_HERE: u32 = 2;

/// What happened to one model call so far.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    attempts: u32,
    /// Of these, at the candidate that is asked now.
    here: u32,
    after_unknown: bool,
    /// Whether a fallback is asked now.
    moved: bool,
}

/// The circumstances of a failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    /// Whether a delta of the failed attempt reached the caller.
    pub(crate) delta_delivered: bool,
    /// Whether the endpoint is to be left alone from now on.
    pub(crate) circuit_open: bool,
    /// Who could be asked next.
    pub(crate) next: Next,
    /// Time until the deadline.
    pub(crate) left: Duration,
    /// A random number from 0 (inclusive) to 1.
    pub(crate) jitter: f64,
}

/// Who could be asked next: candidates whose circuit is closed and that the request should fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Nobody,
    /// Somebody, but nobody with a larger window.
    Somebody,
    /// Somebody, and somebody with a larger window too.
    Larger,
}

/// What to do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    GiveUp,
    /// To the same candidate, after a wait.
    SendAgain {
        wait: Duration,
    },
    /// To the next candidate, at once.
    Move,
    /// To the next candidate with a larger window, at once.
    MoveToLarger,
}

/// Whom a failure speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// A state that may pass.
    Moment,
    /// This provider, whatever is asked: key, quota, model, a feature that it lacks.
    Provider,
    /// The size of the request, for this model.
    Size,
    /// The request, whoever is asked.
    Request,
    /// Whoever asks: the call was cancelled, its time is up, or this side cannot ask at all.
    Caller,
}

impl Retries {
    /// Judges a failure, and remembers it.
    pub(crate) fn judge(
        &mut self,
        policy: &RetryPolicy,
        failure: &PortFailure,
        at: &Circumstances,
    ) -> Verdict {
        self.count(failure);
        let permitted = self.permits(policy, failure, at);
        self.after_unknown |= failure.commit == CommitDisposition::Unknown;
        let verdict = if permitted { self.verdict(policy, failure, at) } else { Verdict::GiveUp };
        if matches!(verdict, Verdict::Move | Verdict::MoveToLarger) {
            (self.here, self.moved) = (0, true);
        }
        verdict
    }

    /// The call begins at a fallback.
    pub(crate) const fn begin_at_a_fallback(&mut self) {
        self.moved = true;
    }

    /// Most requests of the next attempt, those counted that its adapter makes by itself.
    pub(crate) fn requests_left(&self, policy: &RetryPolicy) -> u32 {
        if self.after_unknown {
            return 1;
        }
        let most = policy.max_attempts.clamp(1, MOST_ATTEMPTS);
        most.saturating_sub(self.attempts).max(1)
    }

    /// Whether another attempt may begin beside the next one, which then has a request less.
    pub(crate) fn may_hedge(&self, policy: &RetryPolicy) -> bool {
        self.requests_left(policy) >= 2
    }

    /// Whatever comes, nothing more is sent.
    pub(crate) const fn forbid_more(&mut self) {
        self.after_unknown = true;
    }

    fn count(&mut self, failure: &PortFailure) {
        let requests = u32::try_from(failure.attempts.len()).unwrap_or(u32::MAX).max(1);
        self.attempts = self.attempts.saturating_add(requests);
        self.here = self.here.saturating_add(requests);
    }

    /// Whether anything at all may be sent after this.
    fn permits(&self, policy: &RetryPolicy, failure: &PortFailure, at: &Circumstances) -> bool {
        let most = policy.max_attempts.clamp(1, MOST_ATTEMPTS);
        let is_spent = self.attempts >= most || self.after_unknown || at.left.is_zero();
        let was_seen = at.delta_delivered && !policy.after_deltas;
        !is_spent && !was_seen && is_safe(policy, failure)
    }

    fn verdict(&self, policy: &RetryPolicy, failure: &PortFailure, at: &Circumstances) -> Verdict {
        let moves = if at.next == Next::Nobody { Verdict::GiveUp } else { Verdict::Move };
        match Reach::of(failure) {
            Reach::Moment => self.again_or_elsewhere(policy, failure, at),
            Reach::Provider => moves,
            // Of a fallback that is too small the next one may know nothing.
            Reach::Size if self.moved || policy.refused_requests => moves,
            Reach::Size if is_overflow(failure) && policy.overflow_to_larger => match at.next {
                Next::Larger => Verdict::MoveToLarger,
                Next::Nobody | Next::Somebody => Verdict::GiveUp,
            },
            Reach::Request if policy.refused_requests => moves,
            Reach::Size | Reach::Request | Reach::Caller => Verdict::GiveUp,
        }
    }

    fn again_or_elsewhere(
        &self,
        policy: &RetryPolicy,
        failure: &PortFailure,
        at: &Circumstances,
    ) -> Verdict {
        let asked = asked(policy, failure);
        let wait = asked + self.backoff(at.jitter);
        let worth_it = wait < at.left && !at.circuit_open;
        let elsewhere = at.next != Next::Nobody;
        // Not the random part: the same failures lead to the same place.
        let stays = self.here < ENOUGH_HERE && asked <= policy.patience;
        match () {
            () if elsewhere && !(worth_it && stays) => Verdict::Move,
            () if worth_it => Verdict::SendAgain { wait },
            () => Verdict::GiveUp,
        }
    }

    /// A random part of a time that doubles.
    fn backoff(&self, jitter: f64) -> Duration {
        let doublings = self.attempts.clamp(1, MOST_ATTEMPTS) - 1;
        (FIRST_BACKOFF * 2u32.pow(doublings)).mul_f64(jitter.clamp(0.0, 1.0))
    }
}

/// What the provider asked for, as far as it is granted.
fn asked(policy: &RetryPolicy, failure: &PortFailure) -> Duration {
    let longest = policy.longest_wait.min(LONGEST_WAIT);
    failure.retry_after.unwrap_or_default().min(longest)
}

impl Reach {
    fn of(failure: &PortFailure) -> Self {
        use PortFailureKind::{
            Canceled, Conflict, ContextOverflow, Forbidden, Internal, Invalid, NotFound,
            OutputLimit, Protocol, RateLimited, Timeout, Unavailable,
        };
        match failure.kind {
            Canceled => Self::Caller,
            _ if is_own_fault(failure) => Self::Caller,
            _ if failure.retryable => Self::Moment,
            Timeout => Self::Caller,
            Forbidden | NotFound | RateLimited | Unavailable | Protocol | Internal => {
                Self::Provider
            }
            // An adapter that refuses by itself lacks what is asked for; another may have it.
            Invalid if failure.attempts.is_empty() => Self::Provider,
            ContextOverflow | OutputLimit => Self::Size,
            Invalid | Conflict => Self::Request,
        }
    }
}

/// Whether a failure is about what a fallback can hold, rather than about the call.
pub(crate) const fn is_about_size(failure: &PortFailure) -> bool {
    matches!(failure.kind, PortFailureKind::ContextOverflow | PortFailureKind::OutputLimit)
}

fn is_own_fault(failure: &PortFailure) -> bool {
    failure.attempts.is_empty() && OWN_FAULTS.contains(&failure.code.as_str())
}

const fn is_overflow(failure: &PortFailure) -> bool {
    matches!(failure.kind, PortFailureKind::ContextOverflow)
}

const fn is_server_error(failure: &PortFailure) -> bool {
    matches!(failure.kind, PortFailureKind::Unavailable)
}

fn is_safe(policy: &RetryPolicy, failure: &PortFailure) -> bool {
    match failure.commit {
        CommitDisposition::NotCommitted => true,
        CommitDisposition::Committed => false,
        CommitDisposition::Unknown => {
            failure.retryable
                && match policy.unknown_outcomes {
                    UnknownOutcomes::Never => false,
                    UnknownOutcomes::ServerErrors => is_server_error(failure),
                    UnknownOutcomes::BrokenAnswers => {
                        is_server_error(failure) || failure.kind == PortFailureKind::Protocol
                    }
                    UnknownOutcomes::Any => true,
                }
        }
    }
}

#[cfg(test)]
mod tests;
