//! Decides when a run is told to end from outside: with its operation, or when its time is up.
//!
//! Knows a cancellation and a deadline; refuses to know what a run makes of them. Invariant: the
//! run is told each of them once.

use std::{pin::Pin, time::Duration};

use futures_util::future::{BoxFuture, FutureExt as _};
use runtime_decision::Happened;
use runtime_ports::OperationContext;
use tokio::time::{Instant, Sleep};

/// What can end a run from outside. It is waited for all the time, so that what waits is kept.
pub(super) struct Ends {
    operation: OperationContext,
    cancelled: BoxFuture<'static, ()>,
    time: Pin<Box<Sleep>>,
    is_cancel_told: bool,
    is_time_told: bool,
}

impl Ends {
    /// Of a run that has this frame.
    pub(super) fn of(operation: &OperationContext) -> Self {
        Self {
            cancelled: operation.cancellation.clone().cancelled_owned().boxed(),
            time: Box::pin(tokio::time::sleep_until(operation.deadline)),
            operation: operation.clone(),
            is_cancel_told: false,
            is_time_told: false,
        }
    }

    /// At most so long from now.
    pub(super) fn within(&mut self, left: Duration) {
        if let Some(end) = Instant::now().checked_add(left) {
            let end = end.min(self.time.deadline());
            self.time.as_mut().reset(end);
        }
    }

    /// Waits for what has come and was not told. Cancel-safe.
    pub(super) async fn come(&mut self) {
        tokio::select! {
            biased;
            () = &mut self.cancelled, if !self.is_cancel_told => {}
            () = &mut self.time, if !self.is_time_told => {}
            else => std::future::pending().await,
        }
    }

    /// What has come and was not told; it counts as told from now on.
    pub(super) fn take(&mut self) -> Option<Happened> {
        if !self.is_cancel_told && self.operation.cancellation.is_cancelled() {
            self.is_cancel_told = true;
            return Some(Happened::Cancelled);
        }
        if !self.is_time_told && self.time.deadline() <= Instant::now() {
            self.is_time_told = true;
            return Some(Happened::WallTimeElapsed);
        }
        None
    }
}
