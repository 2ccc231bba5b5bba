//! Decides how the events of a run reach those who watch it, and what is left out for a slow one.
//!
//! Knows nothing about who watches. Invariants: publishing never waits and never fails; a watcher
//! gets what it gets in order, with every gap counted in its place; the last event of the run is
//! never left out; nothing is given after it. What a sub-run tells is given to those who watch a
//! run above it too, under its own name and number, and neither ends nor renumbers that run.

mod deltas;
mod queue;
#[cfg(test)]
pub(super) mod tests;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use runtime_decision::{RunEvent, RunIdentity};

pub(crate) use self::deltas::DeltaEvents;
use self::queue::{Queue, Taken};
use super::{
    clock::Clock,
    contained::caught,
    event_stream::{EventStream, Watched},
};

/// How somebody watches a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchOptions {
    /// Whether pieces of answers are wanted while they are generated.
    pub deltas: bool,
    /// Most events that wait to be taken; at least 1. When they are more, the oldest delta is left
    /// out, or without one the oldest event.
    pub capacity: usize,
}

impl Default for WatchOptions {
    /// No deltas, 1,024 events.
    fn default() -> Self {
        Self { deltas: false, capacity: 1_024 }
    }
}

/// Where a segment of a run can be watched. Clones are the same place.
#[derive(Clone)]
pub struct EventHub {
    inner: Arc<Mutex<Inner>>,
}

/// The only one that publishes; when it is dropped, the streams end.
pub(crate) struct EventPublisher {
    hub: EventHub,
    /// Where the runs above are watched, the nearest first.
    above: Vec<EventHub>,
}

#[derive(Default)]
struct Inner {
    /// Sequence of the last event that is no delta.
    sequence: u64,
    /// Deltas since.
    deltas: u64,
    closed: bool,
    next_watcher: u64,
    watchers: Vec<Watcher>,
}

struct Watcher {
    id: u64,
    deltas: bool,
    queue: Queue,
    waker: Option<Waker>,
}

/// A hub and the one who publishes there.
#[cfg(test)]
pub(crate) fn event_hub() -> (EventPublisher, EventHub) {
    event_hub_below(Vec::new())
}

/// A hub and the one who publishes there and `above`, where the runs are watched that this one is a
/// part of.
pub(crate) fn event_hub_below(above: Vec<EventHub>) -> (EventPublisher, EventHub) {
    let hub = EventHub { inner: Arc::default() };
    (EventPublisher { hub: hub.clone(), above }, hub)
}

impl EventHub {
    /// Watches from now on. What was published before is not given; a segment that is over gives
    /// nothing.
    #[must_use]
    pub fn subscribe(&self, options: WatchOptions) -> EventStream {
        let mut inner = self.lock();
        let id = inner.next_watcher;
        inner.next_watcher += 1;
        let queue = Queue::new(options.capacity);
        // Mostly there is one.
        inner.watchers.reserve_exact(1);
        inner.watchers.push(Watcher { id, deltas: options.deltas, queue, waker: None });
        drop(inner);
        EventStream::new(self.clone(), id)
    }

    /// What comes next for a watcher; `None` when nothing will.
    pub(super) fn poll(&self, id: u64, context: &mut Context<'_>) -> Poll<Option<Watched>> {
        let mut inner = self.lock();
        let closed = inner.closed;
        let Some(watcher) = inner.watchers.iter_mut().find(|watcher| watcher.id == id) else {
            return Poll::Ready(None);
        };
        match watcher.queue.take() {
            Some(Taken::Event(event)) => Poll::Ready(Some(Watched::Event(event))),
            Some(Taken::Missed(count)) => Poll::Ready(Some(Watched::Missed(count))),
            None if closed => Poll::Ready(None),
            None => {
                let old = watcher.waker.replace(context.waker().clone());
                drop(inner);
                // A waker runs code of an executor when it is dropped.
                drop(old);
                Poll::Pending
            }
        }
    }

    pub(super) fn unsubscribe(&self, id: u64) {
        let mut inner = self.lock();
        let place = inner.watchers.iter().position(|watcher| watcher.id == id);
        let gone = place.map(|place| inner.watchers.swap_remove(place));
        drop(inner);
        drop(gone);
    }

    /// Changes the state under the lock and wakes whom that concerns after it. A waker is code of
    /// whoever watches: one that panics harms neither the run nor the others.
    fn change<T>(&self, change: impl FnOnce(&mut Inner, &mut Vec<Waker>) -> T) -> T {
        let mut woken = Vec::new();
        let changed = change(&mut self.lock(), &mut woken);
        for waker in woken {
            let _ = caught(|| waker.wake());
        }
        changed
    }

    fn is_watched(&self) -> bool {
        !self.lock().watchers.is_empty()
    }

    fn is_watched_with_deltas(&self) -> bool {
        self.lock().watchers.iter().any(|watcher| watcher.deltas)
    }

    /// Tells what a run below told.
    fn pass_on(&self, event: &Arc<RunEvent>) {
        self.change(|inner, woken| inner.pass_on(event, woken));
    }

    /// Nothing panics while this is held, so that a poisoned lock holds a whole state.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventPublisher {
    /// Whether anybody wants deltas; asked before a model call.
    pub(crate) fn is_watched_with_deltas(&self) -> bool {
        self.hubs().any(EventHub::is_watched_with_deltas)
    }

    /// The hub of this run, then those above.
    fn hubs(&self) -> impl Iterator<Item = &EventHub> {
        std::iter::once(&self.hub).chain(&self.above)
    }

    /// The hubs, for whoever publishes further below.
    pub(crate) fn hubs_for_below(&self) -> Vec<EventHub> {
        self.hubs().cloned().collect()
    }

    /// Tells an event that somebody else keeps too.
    pub(crate) fn publish(&self, event: &Arc<RunEvent>) {
        self.hub.change(|inner, woken| inner.publish(event, woken));
        self.above.iter().for_each(|hub| hub.pass_on(event));
    }

    /// Tells an event. Allocates nothing while nobody watches.
    pub(crate) fn publish_owned(&self, event: RunEvent) {
        if self.above.iter().any(EventHub::is_watched) {
            return self.publish(&Arc::new(event));
        }
        self.hub.change(|inner, woken| match inner.watchers.is_empty() {
            true => inner.pass(&event),
            false => inner.publish(&Arc::new(event), woken),
        });
    }

    /// A sink that tells the deltas of one model call.
    pub(crate) fn delta_events(
        &self,
        identity: Arc<RunIdentity>,
        cycle: u32,
        clock: Arc<dyn Clock>,
    ) -> DeltaEvents {
        DeltaEvents::new(self.hubs_for_below(), identity, cycle, clock)
    }
}

impl Drop for EventPublisher {
    fn drop(&mut self) {
        self.hub.change(Inner::close);
    }
}

impl Inner {
    fn publish(&mut self, event: &Arc<RunEvent>, woken: &mut Vec<Waker>) {
        if self.closed {
            return;
        }
        self.pass(event);
        for watcher in &mut self.watchers {
            watcher.queue.push(Arc::clone(event));
            woken.extend(watcher.waker.take());
        }
    }

    /// Notes that the run is past an event; the last one closes the hub.
    fn pass(&mut self, event: &RunEvent) {
        (self.sequence, self.deltas) = (event.sequence, 0);
        self.closed |= event.event.is_last();
    }

    /// Gives on what a run below told.
    fn pass_on(&mut self, event: &Arc<RunEvent>, woken: &mut Vec<Waker>) {
        if self.closed {
            return;
        }
        let is_wanted = |watcher: &&mut Watcher| watcher.deltas || !event.event.is_delta();
        for watcher in self.watchers.iter_mut().filter(is_wanted) {
            watcher.queue.push(Arc::clone(event));
            woken.extend(watcher.waker.take());
        }
    }

    /// Tells the delta that `make` makes of (sequence, place after it), if anybody here or above
    /// wants it; gives it for those above.
    fn publish_delta(
        &mut self,
        woken: &mut Vec<Waker>,
        is_wanted_above: bool,
        make: impl FnOnce(u64, u64) -> RunEvent,
    ) -> Option<Arc<RunEvent>> {
        if self.closed {
            return None;
        }
        self.deltas += 1;
        if !is_wanted_above && !self.watchers.iter().any(|watcher| watcher.deltas) {
            return None;
        }
        let event = Arc::new(make(self.sequence, self.deltas));
        self.pass_on(&event, woken);
        Some(event)
    }

    fn close(&mut self, woken: &mut Vec<Waker>) {
        self.closed = true;
        woken.extend(self.watchers.iter_mut().filter_map(|watcher| watcher.waker.take()));
    }
}

impl fmt::Debug for EventHub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watchers = self.lock().watchers.len();
        formatter.debug_struct("EventHub").field("watchers", &watchers).finish_non_exhaustive()
    }
}
