//! Decides how the events of a run are kept while it goes on.
//!
//! Knows nothing about where they are kept. Invariants: events are offered once each, in order,
//! one at a time; what could not be kept is counted, and never fails or holds up the run.

mod losses;
#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use runtime_decision::RunEvent;
use runtime_ports::{Interruption, OperationContext, PortFailure, PortFailureKind, TraceSession};

pub use self::losses::TraceLosses;
use super::contained::{Panicked, contained};

/// Most time that one append may take.
pub(crate) const APPEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Most events that wait to be kept.
pub(crate) const MAX_BACKLOG: usize = 1_024;

type Append = Pin<Box<dyn Future<Output = Result<(), PortFailure>> + Send>>;

/// Keeps the events of one run, within the loop of its driver: nothing happens unless
/// [`Self::written`] or [`Self::flush`] is awaited.
///
/// # Cancellation
/// What is being kept stays in here when an await is dropped, and goes on with the next one.
pub(crate) struct TraceWriter {
    session: Arc<dyn TraceSession>,
    operation: OperationContext,
    backlog: VecDeque<Arc<RunEvent>>,
    current: Option<Append>,
    losses: TraceLosses,
}

impl TraceWriter {
    /// A writer for the run that `operation` belongs to. Its cancellation does not reach the
    /// appends: the last events of a cancelled run are kept too. [`Self::flush`] ends them.
    pub(crate) fn new(session: Arc<dyn TraceSession>, operation: OperationContext) -> Self {
        let (backlog, losses) = (VecDeque::new(), TraceLosses::default());
        Self { session, operation, backlog, current: None, losses }
    }

    /// Takes an event in; a delta is not kept. When the backlog is full, its oldest event is lost:
    /// so the last event of the run never is.
    pub(crate) fn push(&mut self, event: &Arc<RunEvent>) {
        if event.event.is_delta() {
            return;
        }
        if self.backlog.len() >= MAX_BACKLOG {
            self.backlog.pop_front();
            self.losses.add(backlog_full());
        }
        self.backlog.push_back(Arc::clone(event));
    }

    /// Whether something is not kept yet.
    pub(crate) fn needs_flush(&self) -> bool {
        self.current.is_some() || !self.backlog.is_empty()
    }

    /// Returns when one more event was kept or lost; never when there is none.
    pub(crate) async fn written(&mut self) {
        poll_fn(|context| self.poll_written(context)).await;
    }

    /// Waits until everything was kept, at most `grace`; what was not by then is lost.
    pub(crate) async fn flush(&mut self, grace: Duration) {
        let all = async {
            while self.needs_flush() {
                self.written().await;
            }
        };
        if tokio::time::timeout(grace, all).await.is_err() {
            self.give_up();
        }
    }

    /// What could not be kept.
    pub(crate) const fn losses(&self) -> &TraceLosses {
        &self.losses
    }

    /// As [`Self::written`], for a hand-written loop.
    pub(crate) fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let append = match &mut self.current {
            Some(append) => append,
            None => {
                let Some(event) = self.backlog.pop_front() else { return Poll::Pending };
                let append = append(Arc::clone(&self.session), self.operation.clone(), event);
                self.current.insert(Box::pin(append))
            }
        };
        let kept = ready!(append.as_mut().poll(context));
        self.current = None;
        if let Err(failure) = kept {
            self.losses.add(failure);
        }
        Poll::Ready(())
    }

    fn give_up(&mut self) {
        if self.current.take().is_some() {
            self.losses.add(Interruption::DeadlineExceeded.in_flight());
        }
        for _event in self.backlog.drain(..) {
            self.losses.add(out_of_time());
        }
    }
}

impl fmt::Debug for TraceWriter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TraceWriter")
            .field("backlog", &self.backlog.len())
            .field("losses", &self.losses)
            .finish_non_exhaustive()
    }
}

/// Offers one event to the trace. The value of an event is made here and nowhere else.
async fn append(
    session: Arc<dyn TraceSession>,
    run: OperationContext,
    event: Arc<RunEvent>,
) -> Result<(), PortFailure> {
    let mut own = OperationContext::root(run.id, run.execution_id, APPEND_TIMEOUT);
    own.parent = run.parent;
    let payload = serde_json::to_value(&*event).map_err(|_| unwritable())?;
    let appending = async { session.append(&own, event.event.name(), payload).await };
    match own.bounded(contained(appending)).await {
        Ok(Ok(kept)) => kept,
        Ok(Err(Panicked)) => Err(panicked()),
        Err(interruption) => Err(interruption.in_flight()),
    }
}

fn backlog_full() -> PortFailure {
    let hint = "the trace is slower than the run; give it a faster store";
    PortFailure::not_sent(PortFailureKind::Unavailable, "trace_backlog_full", hint)
}

fn out_of_time() -> PortFailure {
    let hint = "the run ended before the trace had taken its events; give it a faster store";
    PortFailure::not_sent(PortFailureKind::Timeout, "trace_out_of_time", hint)
}

fn unwritable() -> PortFailure {
    let hint = "the event has no form as JSON, which is a fault of the runtime";
    PortFailure::not_sent(PortFailureKind::Internal, "trace_event_unwritable", hint)
}

fn panicked() -> PortFailure {
    let hint = "the trace panicked, which is a fault of its adapter";
    PortFailure::in_flight_unknown(PortFailureKind::Internal, "trace_panicked", hint)
}
