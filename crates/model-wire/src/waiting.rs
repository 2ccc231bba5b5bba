//! Decides how long the next bytes are waited for.
//!
//! Knows nothing about what they say. Invariant: one timer and one registration for interruptions
//! serve a whole answer, so that a wait costs little more than the read itself.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use runtime_ports::{Interruption, OperationContext};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::WaitForCancellationFuture;

/// What came of a wait.
pub(crate) enum Waited<T> {
    /// The work was done.
    Done(T),
    /// The operation was cancelled, or its deadline passed.
    Interrupted(Interruption),
    /// The patience ended.
    TooLong,
}

/// Waits for one piece of work after the other, within an operation.
pub(crate) struct Waiting<'a> {
    operation: &'a OperationContext,
    cancelled: Pin<Box<WaitForCancellationFuture<'a>>>,
    /// Fires at the deadline, or at a patience that may have been prolonged since.
    timer: Pin<Box<Sleep>>,
}

impl<'a> Waiting<'a> {
    /// Nothing is waited for yet.
    pub(crate) fn within(operation: &'a OperationContext) -> Self {
        let cancelled = Box::pin(operation.cancellation.cancelled());
        Self { operation, cancelled, timer: Box::pin(sleep_until(operation.deadline)) }
    }

    /// The outcome of `work`, when it has one without waiting.
    pub(crate) async fn if_ready<F: Future>(
        &mut self,
        mut work: Pin<&mut F>,
    ) -> Option<Waited<F::Output>> {
        if let Some(interruption) = self.interruption() {
            return Some(Waited::Interrupted(interruption));
        }
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(Waited::Done(outcome))),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// The outcome of `work`, unless it takes until `patience`. When it is not there at once,
    /// `meanwhile` is done before the wait.
    pub(crate) async fn until<F: Future>(
        &mut self,
        patience: Instant,
        mut work: Pin<&mut F>,
        mut meanwhile: impl FnMut(),
    ) -> Waited<F::Output> {
        if patience < self.timer.deadline() {
            self.timer.as_mut().reset(patience);
        }
        poll_fn(|context| {
            if let Some(interruption) = self.interruption() {
                return Poll::Ready(Waited::Interrupted(interruption));
            }
            if let Poll::Ready(outcome) = work.as_mut().poll(context) {
                return Poll::Ready(Waited::Done(outcome));
            }
            if self.cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Waited::Interrupted(Interruption::Canceled));
            }
            meanwhile();
            self.poll_timer(patience, context)
        })
        .await
    }

    /// Prolonging a timer costs more than letting it fire once in vain.
    fn poll_timer<T>(&mut self, patience: Instant, context: &mut Context<'_>) -> Poll<Waited<T>> {
        while self.timer.as_mut().poll(context).is_ready() {
            let fired = self.timer.deadline();
            if fired >= self.operation.deadline {
                return Poll::Ready(Waited::Interrupted(Interruption::DeadlineExceeded));
            }
            if fired >= patience {
                return Poll::Ready(Waited::TooLong);
            }
            self.timer.as_mut().reset(patience.min(self.operation.deadline));
        }
        Poll::Pending
    }

    fn interruption(&self) -> Option<Interruption> {
        let is_over = self.operation.deadline <= Instant::now();
        match self.operation.cancellation.is_cancelled() {
            true => Some(Interruption::Canceled),
            false => is_over.then_some(Interruption::DeadlineExceeded),
        }
    }
}

#[cfg(test)]
mod tests;
