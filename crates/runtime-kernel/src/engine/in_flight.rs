//! Decides how long an effect that is being performed is waited for.
//!
//! Knows nothing about what the effects do. Invariants: each effect comes to exactly one outcome,
//! or to none when it was withdrawn; whatever an adapter does, an effect that was halted is over
//! within the grace, and one that ignores its deadline within the grace after it.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{
    StreamExt as _,
    future::{AbortHandle, Abortable, BoxFuture},
    stream::FuturesUnordered,
};
use runtime_decision::{EffectId, Halt, Outcome};
use runtime_ports::OperationContext;
use tokio::{
    sync::Notify,
    time::{Instant, Sleep},
};

use super::{
    contained::{Contained, Panicked, contained_in_place},
    effect_name::EffectName,
};

/// An effect that is being performed.
pub(super) struct Performed {
    pub(super) name: EffectName,
    /// Its frame; cancelling it tells the adapter to stop.
    pub(super) operation: Arc<OperationContext>,
    pub(super) work: BoxFuture<'static, Outcome>,
    /// The task of a tool or child, to see whether it still runs when it is given up.
    pub(super) task: Option<tokio::task::AbortHandle>,
    /// Tells a child to come to a rest; everything else ends by itself or is told to stop.
    pub(super) settle: Option<Arc<Notify>>,
}

/// What is known of an effect while it is being performed.
struct Entry {
    name: EffectName,
    operation: Arc<OperationContext>,
    abort: AbortHandle,
    task: Option<tokio::task::AbortHandle>,
    settle: Option<Arc<Notify>>,
    /// When it is told to stop, if it was halted and has not been told yet.
    stop_at: Option<Instant>,
    /// When it is given up.
    give_up_at: Instant,
    was_told: bool,
}

/// An effect that came to its outcome.
pub(super) struct Ended {
    pub(super) id: EffectId,
    pub(super) name: EffectName,
    pub(super) outcome: Box<Outcome>,
    /// Of one that was given up: its task, which may still run.
    pub(super) given_up: Option<GivenUp>,
}

/// What was left of an effect that did not end in time.
pub(super) struct GivenUp {
    pub(super) task: Option<tokio::task::AbortHandle>,
}

/// The work of one effect. The panics of an adapter, those of its drop included, do not leave it.
struct Identified {
    id: EffectId,
    work: Contained<dyn Future<Output = Outcome> + Send>,
}

/// The effects that are being performed.
pub(super) struct InFlight {
    work: FuturesUnordered<Abortable<Identified>>,
    entries: Entries,
    grace: Duration,
    /// Rings no later than the first thing that is due.
    alarm: Pin<Box<Sleep>>,
}

impl InFlight {
    pub(super) fn new(grace: Duration) -> Self {
        let (work, entries) = (FuturesUnordered::new(), Entries::default());
        Self { work, entries, grace, alarm: Box::pin(tokio::time::sleep_until(far())) }
    }

    pub(super) fn start(&mut self, id: EffectId, performed: Performed) {
        let (abort, registration) = AbortHandle::new_pair();
        let Performed { name, operation, work, task, settle } = performed;
        let work = Identified { id, work: contained_in_place(work) };
        self.work.push(Abortable::new(work, registration));
        let give_up_at = operation.deadline.checked_add(self.grace).unwrap_or_else(far);
        let (stop_at, was_told) = (None, false);
        let entry = Entry { name, operation, abort, task, settle, stop_at, give_up_at, was_told };
        self.ring_by(give_up_at);
        self.entries.push(id, entry);
    }

    /// Halts an effect; gives the name of one that was dropped.
    pub(super) fn halt(&mut self, id: EffectId, halt: Halt) -> Option<EffectName> {
        match halt {
            Halt::Withdraw => return self.withdraw(id),
            Halt::Interrupt => self.give_grace(id, Entry::tell),
            // Half of the grace to end by itself, the other half to end when it is told.
            Halt::Settle => {
                let tell_at = after(self.grace / 2);
                self.give_grace(id, |entry| match &entry.settle {
                    // It has a grace of its own, which is shorter.
                    Some(settle) => settle.notify_one(),
                    None => entry.stop_at = Some(tell_at),
                });
            }
        }
        None
    }

    fn withdraw(&mut self, id: EffectId) -> Option<EffectName> {
        let Entry { name, operation, abort, .. } = self.entries.remove(id)?;
        // Whatever it started elsewhere learns of it too.
        operation.cancellation.cancel();
        abort.abort();
        Some(name)
    }

    fn give_grace(&mut self, id: EffectId, begin: impl FnOnce(&mut Entry)) {
        let latest = after(self.grace);
        let Some(entry) = self.entries.get_mut(id) else { return };
        begin(entry);
        entry.give_up_at = entry.give_up_at.min(latest);
        let due = entry.due();
        self.ring_by(due);
    }

    /// What is being performed.
    pub(super) fn ids(&self) -> impl Iterator<Item = EffectId> {
        self.entries.0.iter().map(|(id, _)| *id)
    }

    /// The next outcome. Waits for ever while nothing is performed. Cancel-safe.
    pub(super) async fn next(&mut self) -> Ended {
        std::future::poll_fn(|context| {
            loop {
                match self.work.poll_next_unpin(context) {
                    Poll::Ready(Some(Ok((id, end)))) => {
                        if let Some(ended) = self.ended(id, end) {
                            return Poll::Ready(ended);
                        }
                        continue;
                    }
                    // It was withdrawn or given up before.
                    Poll::Ready(Some(Err(_))) => continue,
                    Poll::Ready(None) | Poll::Pending => {}
                }
                if self.alarm.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                if let Some(ended) = self.take_due() {
                    return Poll::Ready(ended);
                }
            }
        })
        .await
    }

    fn ended(&mut self, id: EffectId, end: Result<Outcome, Panicked>) -> Option<Ended> {
        let Entry { name, .. } = self.entries.remove(id)?;
        let outcome = Box::new(end.unwrap_or_else(|Panicked| name.broken_down()));
        Some(Ended { id, name, outcome, given_up: None })
    }

    /// Tells what is due to stop, and gives up one effect that had its time.
    fn take_due(&mut self) -> Option<Ended> {
        let now = Instant::now();
        let due =
            self.entries.values_mut().filter(|entry| entry.stop_at.is_some_and(|at| at <= now));
        due.for_each(Entry::tell);
        let late = self.entries.0.iter().find(|(_, entry)| entry.give_up_at <= now);
        let late = late.map(|(id, _)| *id);
        let given_up = late.and_then(|id| self.give_up(id));
        if given_up.is_none() {
            let first = self.entries.values().map(Entry::due).min();
            self.alarm.as_mut().reset(first.unwrap_or_else(far));
        }
        given_up
    }

    fn give_up(&mut self, id: EffectId) -> Option<Ended> {
        let Entry { name, operation, abort, task, was_told, .. } = self.entries.remove(id)?;
        // Only now is it known whether it was told to stop or ran out of time.
        let outcome = Box::new(name.given_up(was_told));
        operation.cancellation.cancel();
        abort.abort();
        if let Some(task) = &task {
            task.abort();
        }
        Some(Ended { id, name, outcome, given_up: Some(GivenUp { task }) })
    }

    fn ring_by(&mut self, at: Instant) {
        if at < self.alarm.deadline() {
            self.alarm.as_mut().reset(at);
        }
    }
}

/// In the order of their ids, which are those in which they were started. Mostly there is one, for
/// which a map would take a node for eleven.
#[derive(Default)]
struct Entries(Vec<(EffectId, Entry)>);

impl Entries {
    fn push(&mut self, id: EffectId, entry: Entry) {
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        self.0.push((id, entry));
    }

    fn place(&self, id: EffectId) -> Option<usize> {
        self.0.iter().position(|(held, _)| *held == id)
    }

    fn remove(&mut self, id: EffectId) -> Option<Entry> {
        self.place(id).map(|place| self.0.remove(place).1)
    }

    fn get_mut(&mut self, id: EffectId) -> Option<&mut Entry> {
        self.0.iter_mut().find(|(held, _)| *held == id).map(|(_, entry)| entry)
    }

    fn values(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().map(|(_, entry)| entry)
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.0.iter_mut().map(|(_, entry)| entry)
    }
}

impl Entry {
    fn tell(&mut self) {
        self.stop_at = None;
        self.was_told = true;
        self.operation.cancellation.cancel();
    }

    fn due(&self) -> Instant {
        self.stop_at.map_or(self.give_up_at, |at| at.min(self.give_up_at))
    }
}

impl Future for Identified {
    type Output = (EffectId, Result<Outcome, Panicked>);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let id = self.id;
        Pin::new(&mut self.work).poll(context).map(|end| (id, end))
    }
}

impl Drop for InFlight {
    /// Whatever the effects started elsewhere learns that nobody waits any more.
    fn drop(&mut self) {
        self.entries.values().for_each(|entry| entry.operation.cancellation.cancel());
    }
}

fn after(wait: Duration) -> Instant {
    Instant::now().checked_add(wait).unwrap_or_else(far)
}

/// As far away as the clock is asked for: a year.
fn far() -> Instant {
    Instant::now() + Duration::from_hours(365 * 24)
}
