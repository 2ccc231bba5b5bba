//! Decides what time it is for a run.
//!
//! Knows nothing about deadlines, which follow tokio's clock: this time goes into envelopes, wall
//! time and the lapse of approvals.

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Tells the time.
///
/// # Contract
/// Returns at once. The time may jump either way; nothing but what is said about when a thing
/// happened depends on it.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn unix_ms(&self) -> u64;
}

/// The clock of the machine. A time before the epoch is the epoch.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
    }
}

/// A clock that starts at a given time and goes as tokio's goes, paused or not: with it, a test
/// gives the same times whenever it runs.
///
/// # Examples
/// ```
/// # use std::time::Duration;
/// # use runtime_kernel::engine::{Clock, TokioClock};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let clock = TokioClock::starting_at(1_000);
/// tokio::time::sleep(Duration::from_secs(5)).await;
/// assert_eq!(clock.unix_ms(), 6_000);
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TokioClock {
    start: Instant,
    start_ms: u64,
}

impl TokioClock {
    /// A clock that says `unix_ms` now.
    #[must_use]
    pub fn starting_at(unix_ms: u64) -> Self {
        Self { start: Instant::now(), start_ms: unix_ms }
    }
}

impl Clock for TokioClock {
    fn unix_ms(&self) -> u64 {
        self.start_ms.saturating_add(millis(self.start.elapsed()))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
