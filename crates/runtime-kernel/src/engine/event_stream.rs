//! Decides what somebody who watches a run holds.
//!
//! Knows nothing about queues. Invariant: dropping it leaves nothing behind in the run.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::Stream;
use runtime_decision::RunEvent;

use super::event_hub::EventHub;

/// What a watcher gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Watched {
    /// Something happened.
    Event(Arc<RunEvent>),
    /// So many events were left out here, since the watcher was slow. Those that were no deltas
    /// can be read again from the trace, if the run has one: their sequence numbers are missing.
    Missed(u64),
}

/// The events of one segment of a run, as they happen. Also a [`Stream`].
///
/// Ends after the last event of the segment, or without one when the run was dropped.
#[derive(Debug)]
pub struct EventStream {
    hub: EventHub,
    id: u64,
    missed: u64,
}

impl EventStream {
    pub(super) const fn new(hub: EventHub, id: u64) -> Self {
        Self { hub, id, missed: 0 }
    }

    /// What comes next; `None` when nothing will.
    ///
    /// # Cancellation
    /// A dropped wait loses nothing.
    pub async fn next(&mut self) -> Option<Watched> {
        poll_fn(|context| self.poll_watched(context)).await
    }

    /// How many events were left out so far, as this stream has told.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }

    fn poll_watched(&mut self, context: &mut Context<'_>) -> Poll<Option<Watched>> {
        let polled = self.hub.poll(self.id, context);
        if let Poll::Ready(Some(Watched::Missed(count))) = &polled {
            self.missed += count;
        }
        polled
    }
}

impl Stream for EventStream {
    type Item = Watched;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Watched>> {
        self.get_mut().poll_watched(context)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.hub.unsubscribe(self.id);
    }
}
