//! Decides how long a port call may take, and who may end it early.
//!
//! Knows nothing about what the call does. Invariant: a child never outlives its parent's
//! deadline or cancellation, and never cancels its parent.

use std::{future::Future, time::Duration};

use runtime_types::{ExecutionId, OperationId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::PortFailure;

/// As far away as a deadline is set when a timeout reaches beyond the clock: 30 years.
const FAR: Duration = Duration::from_hours(30 * 365 * 24);

/// The frame of one port call: its name, its deadline and its cancellation.
#[derive(Clone, Debug)]
pub struct OperationContext {
    /// Names this operation.
    pub id: OperationId,
    /// The execution that this operation belongs to.
    pub execution_id: ExecutionId,
    /// The operation that caused this one; `None` for a root.
    pub parent: Option<OperationId>,
    /// When the call must have returned, on tokio's clock (paused time governs it).
    pub deadline: Instant,
    /// Cancelled when the result is no longer wanted.
    pub cancellation: CancellationToken,
}

/// Why an operation must not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// The cancellation token fired.
    Canceled,
    /// The deadline passed.
    DeadlineExceeded,
}

impl OperationContext {
    /// A root operation that ends `timeout` from now unless it is cancelled before. A timeout that
    /// the clock cannot hold ends in 30 years.
    #[must_use]
    pub fn root(id: OperationId, execution_id: ExecutionId, timeout: Duration) -> Self {
        Self {
            id,
            execution_id,
            parent: None,
            deadline: after(timeout).unwrap_or_else(|| Instant::now() + FAR),
            cancellation: CancellationToken::new(),
        }
    }

    /// An operation caused by this one: same deadline, a child token, this one as its parent.
    #[must_use]
    pub fn child(&self, id: OperationId) -> Self {
        Self {
            id,
            execution_id: self.execution_id.clone(),
            parent: Some(self.id.clone()),
            deadline: self.deadline,
            cancellation: self.cancellation.child_token(),
        }
    }

    /// The same operation with a deadline at most `timeout` from now; never a later one.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.deadline = after(timeout).map_or(self.deadline, |end| end.min(self.deadline));
        self
    }

    /// The time left before the deadline; never zero.
    ///
    /// # Errors
    /// `Canceled` when the token fired, else `Timeout` when nothing is left. Both say "not
    /// committed": ask before you send.
    pub fn remaining(&self) -> Result<Duration, PortFailure> {
        if self.cancellation.is_cancelled() {
            return Err(PortFailure::canceled());
        }
        self.deadline
            .checked_duration_since(Instant::now())
            .filter(|remaining| !remaining.is_zero())
            .ok_or_else(PortFailure::timeout)
    }

    /// Waits until the operation is cancelled or its deadline passes. Cancel-safe.
    pub async fn interrupted(&self) -> Interruption {
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Interruption::Canceled,
            () = tokio::time::sleep_until(self.deadline) => Interruption::DeadlineExceeded,
        }
    }

    /// Runs `work` until it is ready, or the operation is interrupted; then `work` is dropped.
    ///
    /// # Errors
    /// The interruption. Only the caller knows whether `work` had sent something: turn it into a
    /// failure with [`Interruption::before_sending`] or [`Interruption::in_flight`].
    pub async fn bounded<F: Future>(&self, work: F) -> Result<F::Output, Interruption> {
        tokio::select! {
            biased;
            interruption = self.interrupted() => Err(interruption),
            output = work => Ok(output),
        }
    }
}

impl Interruption {
    /// The failure of an operation that was interrupted before anything was sent.
    #[must_use]
    pub fn before_sending(self) -> PortFailure {
        match self {
            Self::Canceled => PortFailure::canceled(),
            Self::DeadlineExceeded => PortFailure::timeout(),
        }
    }

    /// The failure of an operation that was interrupted after something may have been sent: the
    /// commit disposition is unknown.
    #[must_use]
    pub fn in_flight(self) -> PortFailure {
        let never_sent = self.before_sending();
        PortFailure::in_flight_unknown(never_sent.kind, never_sent.code, never_sent.message)
    }
}

/// The moment `timeout` from now, unless it lies beyond the clock.
fn after(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}
