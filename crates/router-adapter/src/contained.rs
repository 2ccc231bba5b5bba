//! Decides how far a panic of foreign code reaches: to the end of the call, no further.
//!
//! Knows nothing about what the code does. Invariant: neither a step of the work nor its drop, nor
//! the drop of what it panicked with, unwinds into whoever waits for it.

use std::{
    any::Any,
    future::Future,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, ready},
};

/// The work panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs `work` to its end, which may be a panic. When it is dropped before, what `work` does then
/// is contained too.
pub(crate) fn contained<F: Future>(work: F) -> Contained<F> {
    Contained(Some(Box::pin(work)))
}

pub(crate) struct Contained<F>(Option<Pin<Box<F>>>);

impl<F: Future> Future for Contained<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = self.0.as_mut() else { return Poll::Ready(Err(Panicked)) };
        let step = catch(|| work.as_mut().poll(context));
        let outcome = match step {
            Ok(poll) => Ok(ready!(poll)),
            Err(panicked) => Err(panicked),
        };
        self.discard();
        Poll::Ready(outcome)
    }
}

impl<F> Contained<F> {
    fn discard(&mut self) {
        if let Some(work) = self.0.take() {
            // What it was to give is here or lost; its last words change neither.
            let _ = catch(|| drop(work));
        }
    }
}

impl<F> Drop for Contained<F> {
    fn drop(&mut self) {
        self.discard();
    }
}

fn catch<T>(step: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(step)).map_err(forget)
}

/// A payload may panic when it is dropped, so it never is.
fn forget(payload: Box<dyn Any + Send>) -> Panicked {
    mem::forget(payload);
    Panicked
}

#[cfg(test)]
mod tests;
