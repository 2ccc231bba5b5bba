//! Decides what becomes of a panic in code that is not ours.
//!
//! Knows nothing about the code. Invariant: no panic leaves, neither when the work is polled nor
//! when it is dropped.

#[cfg(test)]
mod tests;

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

/// The work panicked. What it said may be anything, so it is told to nobody; the panic hook of the
/// process has seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Work whose panics are held back. Cancel-safe if the work is: nothing is taken from it before it
/// is ready.
pub(crate) struct Contained<F: ?Sized> {
    /// None once it has ended.
    work: Option<Pin<Box<F>>>,
}

/// Holds back the panics of `work`, those of its drop included.
pub(crate) fn contained<F: Future>(work: F) -> Contained<F> {
    contained_in_place(Box::pin(work))
}

/// Like [`contained`], for work that has its place already.
pub(crate) fn contained_in_place<F: Future + ?Sized>(work: Pin<Box<F>>) -> Contained<F> {
    Contained { work: Some(work) }
}

impl<F: ?Sized> Contained<F> {
    fn end(&mut self) {
        let work = self.work.take();
        let _ = caught(|| drop(work));
    }
}

impl<F: Future + ?Sized> Future for Contained<F> {
    type Output = Result<F::Output, Panicked>;

    /// # Panics
    /// When it is polled after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let work = self.work.as_mut().expect("ended work is not polled");
        let polled = match caught(|| work.as_mut().poll(context)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panicked) => Err(panicked),
        };
        self.end();
        Poll::Ready(polled)
    }
}

impl<F: ?Sized> Drop for Contained<F> {
    fn drop(&mut self) {
        self.end();
    }
}

/// What `work` comes to, or that it panicked.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload: Box<dyn Any + Send>| {
        // It may panic when it is dropped, so it never is.
        std::mem::forget(payload);
        Panicked
    })
}
