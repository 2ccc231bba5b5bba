//! Decides when a run is told to end from outside: with its operation, or when its time is up.
//!
//! Knows a cancellation and a deadline; refuses to know what a run makes of them. Invariant: the
//! run is told each of them once.

use std::time::Duration;

use runtime_decision::Happened;
use runtime_ports::OperationContext;
use tokio::time::Instant;

/// What can end a run from outside.
pub(super) struct Ends {
    operation: OperationContext,
    at: Instant,
    is_cancel_told: bool,
    is_time_told: bool,
}

impl Ends {
    /// Of a run that has this frame.
    pub(super) fn of(operation: &OperationContext) -> Self {
        Self {
            at: operation.deadline,
            operation: operation.clone(),
            is_cancel_told: false,
            is_time_told: false,
        }
    }

    /// At most so long from now.
    pub(super) fn within(&mut self, left: Duration) {
        if let Some(end) = Instant::now().checked_add(left) {
            self.at = self.at.min(end);
        }
    }

    /// Waits for what has come and was not told. Cancel-safe.
    pub(super) async fn come(&self) {
        tokio::select! {
            biased;
            () = self.operation.cancellation.cancelled(), if !self.is_cancel_told => {}
            () = tokio::time::sleep_until(self.at), if !self.is_time_told => {}
            else => std::future::pending().await,
        }
    }

    /// What has come and was not told; it counts as told from now on.
    pub(super) fn take(&mut self) -> Option<Happened> {
        if !self.is_cancel_told && self.operation.cancellation.is_cancelled() {
            self.is_cancel_told = true;
            return Some(Happened::Cancelled);
        }
        if !self.is_time_told && self.at <= Instant::now() {
            self.is_time_told = true;
            return Some(Happened::WallTimeElapsed);
        }
        None
    }
}
