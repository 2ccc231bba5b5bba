//! Decides how many rounds a session may take, and how running out of them is recognised.
//!
//! Knows nothing about what a round does.

use thiserror::Error;

/// The round limit of a session when nobody says otherwise.
pub const DEFAULT_ROUND_LIMIT: u64 = 250;

/// A session used up its rounds. Recognise it with [`is_session_round_limit`], not by its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the session used all of its {limit} rounds; resume it with a higher round limit")]
pub struct SessionRoundLimitError {
    limit: u64,
}

impl SessionRoundLimitError {
    pub(crate) const fn new(limit: u64) -> Self {
        Self { limit }
    }
}

/// Whether `error` is a [`SessionRoundLimitError`], or wraps one at any depth.
///
/// ```
/// use runtime_kernel::is_session_round_limit;
///
/// assert!(!is_session_round_limit(&anyhow::anyhow!("the session used all of its rounds")));
/// ```
#[must_use]
pub fn is_session_round_limit(error: &anyhow::Error) -> bool {
    // The downcast sees errors that were attached as context, the chain those that are sources.
    error.downcast_ref::<SessionRoundLimitError>().is_some()
        || error.chain().any(|cause| cause.is::<SessionRoundLimitError>())
}

#[cfg(test)]
mod tests;
