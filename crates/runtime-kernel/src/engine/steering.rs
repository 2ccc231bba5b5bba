//! Decides who is told what became of a steering message.
//!
//! Knows events and ends; refuses to know when a message is applied. Invariant: each message that
//! was accepted comes to one end, or its run was dropped.

use std::collections::BTreeMap;

use runtime_decision::{Event, RunEvent};
use tokio::sync::oneshot;

use super::{RunEnd, SteeringOutcome, SteeringReceipt};

/// The steering messages whose end is not known.
#[derive(Debug, Default)]
pub(super) struct Steering {
    last_id: u64,
    waiting: BTreeMap<u64, oneshot::Sender<SteeringOutcome>>,
}

impl Steering {
    /// Of a run that has taken messages up to this one before.
    pub(super) fn after(last_id: u64) -> Self {
        Self { last_id, waiting: BTreeMap::new() }
    }

    /// The id that the next message is offered under.
    pub(super) const fn next_id(&self) -> u64 {
        self.last_id + 1
    }

    /// Notes that the message of this id was accepted.
    pub(super) fn accepted(&mut self, steering_id: u64) -> SteeringReceipt {
        self.last_id = steering_id;
        let (told, outcome) = oneshot::channel();
        self.waiting.insert(steering_id, told);
        SteeringReceipt { steering_id, outcome }
    }

    /// Tells those whose message was put into the history.
    pub(super) fn follow(&mut self, event: &RunEvent) {
        let applied = match &event.event {
            Event::SessionSteerDequeued { steering_id, .. }
            | Event::SessionSteerInterrupt { steering_id, .. } => *steering_id,
            _ => return,
        };
        if let Some(told) = self.waiting.remove(&applied) {
            // Whoever asked may have gone.
            let _ = told.send(SteeringOutcome::Applied { cycle: event.cycle.unwrap_or(0) });
        }
    }

    /// Tells all others.
    pub(super) fn conclude(&mut self, end: &RunEnd) {
        let outcome = match end {
            RunEnd::Finished(_) => SteeringOutcome::Returned,
            RunEnd::Suspended(_) => SteeringOutcome::Kept,
        };
        for told in std::mem::take(&mut self.waiting).into_values() {
            let _ = told.send(outcome);
        }
    }
}
