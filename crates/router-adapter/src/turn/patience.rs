//! Decides how long a turn waits for its provider.
//!
//! Knows no clock: it is told how long was waited. What a host does between two requests is never
//! counted.

use std::time::Duration;

const REQUEST_PATIENCE: Duration = Duration::from_secs(30 * 60);

/// A longer timeout would leave the range of the clock.
const LONGEST_PATIENCE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Time to wait for the provider: over the whole turn, or for each request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Patience {
    Turn { left: Duration },
    Request,
}

impl Patience {
    /// The patience of a turn with this timeout, a year at most; without one, 30 minutes a request.
    pub(super) fn of(timeout: Option<Duration>) -> Self {
        let bounded = timeout.map(|timeout| timeout.min(LONGEST_PATIENCE));
        bounded.map_or(Self::Request, |left| Self::Turn { left })
    }

    /// How long the next request may take.
    pub(super) const fn left(self) -> Duration {
        match self {
            Self::Turn { left } => left,
            Self::Request => REQUEST_PATIENCE,
        }
    }

    /// Counts a wait.
    pub(super) const fn spend(&mut self, waited: Duration) {
        if let Self::Turn { left } = self {
            *left = left.saturating_sub(waited);
        }
    }
}
