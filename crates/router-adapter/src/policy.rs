//! Decides what a host may choose about repeated and moved model calls, and what holds when it
//! chooses nothing.
//!
//! Knows no failure. Invariant: the defaults send nothing twice that may have been paid for, but for
//! the one case that [`UnknownOutcomes`] names.

use std::time::Duration;

/// Most attempts of one model call, whatever a policy says.
pub(crate) const MOST_ATTEMPTS: u32 = 3;

/// Longest wait that a provider can ask for, whatever a policy says.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// When a failed model call is sent again, to the same model or to a fallback.
///
/// # Contract
/// - Never more than three attempts of one call, over all candidates and layers: a second request
///   that an adapter made by itself counts.
/// - What was committed is never sent again.
/// - A failure of the request itself (malformed, refused content, too long) moves nothing, unless
///   this says so; one of the provider (key, quota, model, feature) goes to the next candidate at
///   once.
/// - A wait that would pass the deadline is not begun.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use router_adapter::{RetryPolicy, UnknownOutcomes};
///
/// let careful = RetryPolicy { unknown_outcomes: UnknownOutcomes::Never, ..RetryPolicy::default() };
/// assert_eq!(careful.max_attempts, 3);
/// assert_eq!(careful.longest_wait, Duration::from_secs(60));
/// assert!(!careful.after_deltas && careful.hedge_after.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts of one call, the first included; 1 to 3. Default: 3.
    pub max_attempts: u32,
    /// Longest wait that a provider is granted between two attempts; at most 60 seconds. Default:
    /// 60 seconds.
    pub longest_wait: Duration,
    /// A provider that asks for a longer wait than this is not waited for while there is a fallback.
    /// Default: 2 seconds.
    pub patience: Duration,
    /// What of a call whose outcome is unknown is sent again. Default:
    /// [`UnknownOutcomes::ServerErrors`].
    pub unknown_outcomes: UnknownOutcomes,
    /// Whether a call may go on elsewhere after deltas of it were shown; whoever watches is told
    /// [`Restarted`](runtime_ports::ModelDelta::Restarted) first. `unknown_outcomes` must allow it
    /// too. Default: no.
    pub after_deltas: bool,
    /// Whether a prompt that does not fit the window goes to a fallback with a larger one. Default:
    /// no, since the caller can make it shorter, and a larger window is often a dearer model.
    pub overflow_to_larger: bool,
    /// Whether a request that was refused for what it is goes to a fallback. Default: no.
    pub refused_requests: bool,
    /// When an endpoint that fails is left alone.
    pub circuit: CircuitPolicy,
    /// After this long without a delta or an answer the next candidate is asked as well; whoever
    /// gives the first of either is heard, and the other is dropped. Both may be billed, and both are
    /// in the receipt; it counts as an attempt, and nothing is sent after it. Default: never.
    pub hedge_after: Option<Duration>,
    /// Whether the waits between two attempts are sat out. Default: [`Pauses::SatOut`].
    pub pauses: Pauses,
}

/// What becomes of a wait that was decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pauses {
    /// It passes.
    #[default]
    SatOut,
    /// It counts in every decision and is not waited for: nobody has to be spared where answers come
    /// from a recording.
    Skipped,
}

/// What of a call that may have been accepted is sent again, once, and with a note in the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownOutcomes {
    /// Nothing.
    Never,
    /// A call that the provider answered with an error of its own (5xx).
    #[default]
    ServerErrors,
    /// Also one whose answer broke off before its end, or cannot be read; where some of it was shown,
    /// [`RetryPolicy::after_deltas`] has to allow it, too.
    BrokenAnswers,
    /// Also one that got no answer in time.
    Any,
}

/// When an endpoint that fails is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitPolicy {
    /// After so many failures in a row that speak of the endpoint; at least 1. Default: 5.
    pub failures: u32,
    /// For so long; then one call at a time tries it. Default: 30 seconds.
    pub cool_down: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: MOST_ATTEMPTS,
            longest_wait: LONGEST_WAIT,
            patience: Duration::from_secs(2),
            unknown_outcomes: UnknownOutcomes::default(),
            after_deltas: false,
            overflow_to_larger: false,
            refused_requests: false,
            circuit: CircuitPolicy::default(),
            hedge_after: None,
            pauses: Pauses::default(),
        }
    }
}

impl Default for CircuitPolicy {
    fn default() -> Self {
        Self { failures: 5, cool_down: Duration::from_secs(30) }
    }
}
