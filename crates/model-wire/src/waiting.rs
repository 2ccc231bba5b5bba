//! Decides how long the next bytes are waited for.
//!
//! Knows nothing about what they say. Invariant: one timer and one registration for interruptions
//! serve a whole answer, so that a wait costs little more than the read itself.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use runtime_ports::{Interruption, OperationContext};
use tokio::{
    task::coop::has_budget_remaining,
    time::{Instant, Sleep, sleep_until},
};
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
    /// Whom both of them wake.
    woken: Option<Waker>,
    /// When it was last looked whether the operation goes on.
    seen: Instant,
}

impl<'a> Waiting<'a> {
    /// Nothing is waited for yet.
    pub(crate) fn within(operation: &'a OperationContext) -> Self {
        let cancelled = Box::pin(operation.cancellation.cancelled());
        let timer = Box::pin(sleep_until(operation.deadline));
        Self { operation, cancelled, timer, woken: None, seen: Instant::now() }
    }

    /// When it was last looked whether the operation goes on, which is done before each piece of
    /// work: the present, for those that cannot wait long.
    pub(crate) const fn seen(&self) -> Instant {
        self.seen
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
            self.set_timer(patience);
        }
        poll_fn(|context| {
            if let Some(interruption) = self.interruption() {
                return Poll::Ready(Waited::Interrupted(interruption));
            }
            if let Poll::Ready(outcome) = work.as_mut().poll(context) {
                return Poll::Ready(Waited::Done(outcome));
            }
            meanwhile();
            // Whoever is woken already need not be entered again: a cancellation is seen above, and
            // a timer that fired says so.
            if self.wakes(context.waker()) && !self.timer.is_elapsed() {
                return Poll::Pending;
            }
            if self.cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Waited::Interrupted(Interruption::Canceled));
            }
            self.poll_timer(patience, context)
        })
        .await
    }

    fn wakes(&self, waker: &Waker) -> bool {
        self.woken.as_ref().is_some_and(|woken| woken.will_wake(waker))
    }

    fn set_timer(&mut self, until: Instant) {
        self.timer.as_mut().reset(until);
        self.woken = None;
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
            self.set_timer(patience.min(self.operation.deadline));
        }
        // A task that used up its budget is told to go on later, and the timer knows nobody to wake.
        self.woken = has_budget_remaining().then(|| context.waker().clone());
        Poll::Pending
    }

    fn interruption(&mut self) -> Option<Interruption> {
        self.seen = Instant::now();
        let is_over = self.operation.deadline <= self.seen;
        match self.operation.cancellation.is_cancelled() {
            true => Some(Interruption::Canceled),
            false => is_over.then_some(Interruption::DeadlineExceeded),
        }
    }
}

#[cfg(test)]
mod tests;
