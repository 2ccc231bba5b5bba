//! Decides who answers when two are asked: whoever gives the first delta, or the answer.
//!
//! Knows two calls that run side by side. Refuses to know what they cost and where else they could
//! go. Invariant: one of them is heard, from its first delta on; the other is dropped at once, or has
//! ended by itself; whoever watches gets deltas of one alone.

use std::{
    future::Future,
    sync::atomic::{AtomicU8, Ordering},
};

use runtime_ports::{DeltaSink, ModelDelta};
use tokio::sync::Notify;

use crate::attempt::Attempt;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    First = 1,
    Second = 2,
}

/// Who is heard.
#[derive(Default)]
pub(crate) struct Claim {
    /// 0 while nobody is, else the lane.
    heard: AtomicU8,
    changed: Notify,
}

/// Passes on the deltas of one lane, as long as the other is not heard.
pub(crate) struct LaneSink<'a> {
    pub(crate) lane: Lane,
    pub(crate) claim: &'a Claim,
    pub(crate) sink: &'a dyn DeltaSink,
}

/// How the two ended.
pub(crate) struct Raced {
    pub(crate) heard: Lane,
    /// How the one that is heard ended.
    pub(crate) attempt: Attempt,
    /// How the other ended by itself; `None` when it was dropped.
    pub(crate) other: Option<Attempt>,
}

impl Claim {
    /// Who is heard, if anybody is.
    pub(crate) fn heard(&self) -> Option<Lane> {
        match self.heard.load(Ordering::Acquire) {
            1 => Some(Lane::First),
            2 => Some(Lane::Second),
            _ => None,
        }
    }

    /// Waits until somebody is heard. Cancel-safe.
    async fn won(&self) -> Lane {
        loop {
            if let Some(lane) = self.heard() {
                return lane;
            }
            self.changed.notified().await;
        }
    }

    /// Whether `lane` has the word, now that the other `ended`: it was heard first, be it in the same
    /// moment, or the other failed unheard.
    fn is_left_to(&self, lane: Lane, ended: &Attempt) -> bool {
        match self.heard() {
            Some(heard) => heard == lane,
            None => matches!(ended, Attempt::Failed(_)),
        }
    }

    fn take(&self, lane: Lane) -> bool {
        let free = self.heard.compare_exchange(0, lane as u8, Ordering::AcqRel, Ordering::Acquire);
        if free.is_ok() {
            self.changed.notify_one();
        }
        self.heard() == Some(lane)
    }
}

impl DeltaSink for LaneSink<'_> {
    fn delta(&self, delta: ModelDelta<'_>) {
        if self.claim.take(self.lane) {
            self.sink.delta(delta);
        }
    }
}

/// Runs both until one is heard to its end.
pub(crate) async fn race(
    mut first: impl Future<Output = Attempt> + Unpin,
    mut second: impl Future<Output = Attempt> + Unpin,
    claim: &Claim,
) -> Raced {
    let ended = tokio::select! {
        biased;
        lane = claim.won() => Err(lane),
        attempt = &mut first => Ok((Lane::First, attempt)),
        attempt = &mut second => Ok((Lane::Second, attempt)),
    };
    match ended {
        Err(Lane::First) => {
            drop(second);
            Raced { heard: Lane::First, attempt: first.await, other: None }
        }
        Err(Lane::Second) => {
            drop(first);
            Raced { heard: Lane::Second, attempt: second.await, other: None }
        }
        // Whoever watches has heard the other, or gets nothing from this one.
        Ok((lane, ended)) if claim.is_left_to(lane.other(), &ended) => {
            let attempt = match lane {
                Lane::First => second.await,
                Lane::Second => first.await,
            };
            Raced { heard: lane.other(), attempt, other: Some(ended) }
        }
        Ok((heard, attempt)) => Raced { heard, attempt, other: None },
    }
}

impl Lane {
    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

#[cfg(test)]
mod tests;
