//! Decides what is reported of a cancellation.
//!
//! Knows what was in flight when it came, and how each of that ended; refuses to know why anything
//! was in flight. Invariant: what nobody knows is called unknown.

use std::{collections::BTreeSet, time::Duration};

use runtime_decision::{ChildEnd, EffectId, Outcome, RunStatus, ToolEnd};
use runtime_ports::CommitDisposition;
use tokio::{sync::oneshot, task::AbortHandle, time::Instant};

use super::{
    CancelReport, RunEnd,
    effect_name::EffectName,
    in_flight::{Ended, InFlight},
};

/// How often others may run before what was aborted is looked at with a pause.
const LOOKS: usize = 64;

/// The pause, so that another thread can end what was aborted.
const PAUSE: Duration = Duration::from_millis(1);

/// Longest that an aborted task is waited for.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a cancellation found in flight.
pub(super) struct Cancelling {
    replies: Vec<oneshot::Sender<CancelReport>>,
    found: BTreeSet<EffectId>,
    report: CancelReport,
    /// What was given up, with the task that may still run.
    still: Vec<(String, AbortHandle)>,
}

impl Cancelling {
    pub(super) fn found(in_flight: &InFlight) -> Self {
        Self {
            replies: Vec::new(),
            found: in_flight.ids().collect(),
            report: CancelReport::nothing(RunStatus::Cancelled),
            still: Vec::new(),
        }
    }

    /// Somebody else waits for the report.
    pub(super) fn reply_to(&mut self, reply: oneshot::Sender<CancelReport>) {
        self.replies.retain(|reply| !reply.is_closed());
        self.replies.push(reply);
    }

    /// Notes how an effect ended.
    pub(super) fn note(&mut self, ended: &Ended) {
        let task = ended.given_up.as_ref().and_then(|given_up| given_up.task.clone());
        if let Some(task) = task.filter(|_| self.found.contains(&ended.id)) {
            self.still.push((ended.name.to_string(), task));
        }
        let is_known = ended.given_up.is_none() && is_known(&ended.outcome);
        self.enter(ended.id, &ended.name, is_known);
    }

    /// Notes that an effect was dropped because its outcome is not wanted any more.
    pub(super) fn note_withdrawn(&mut self, id: EffectId, name: &EffectName) {
        self.enter(id, name, !name.may_have_acted());
    }

    fn enter(&mut self, id: EffectId, name: &EffectName, is_known: bool) {
        if !self.found.remove(&id) {
            return;
        }
        match is_known {
            true => self.report.settled.push(name.to_string()),
            false => self.report.unknown.push(name.to_string()),
        }
    }

    /// Tells everybody who waits.
    pub(super) fn answer(mut self, end: &RunEnd) {
        if let RunEnd::Finished(result) = end {
            self.report.status = result.status;
        }
        self.report.still_running = self.still.into_iter().map(|(name, _)| name).collect();
        for reply in self.replies {
            // Whoever asked may have gone.
            let _ = reply.send(self.report.clone());
        }
    }

    /// Waits for tasks that were aborted, not for long and at most until `latest`: they end as soon
    /// as they give their thread back.
    pub(super) async fn look_after_aborted(&mut self, latest: Instant) {
        let latest = latest.min(Instant::now() + PATIENCE);
        for look in 0_usize.. {
            self.still.retain(|(_, task)| !task.is_finished());
            let is_late = look >= LOOKS && Instant::now() >= latest;
            if self.still.is_empty() || is_late {
                return;
            }
            match look < LOOKS {
                true => tokio::task::yield_now().await,
                false => tokio::time::sleep_until(latest.min(Instant::now() + PAUSE)).await,
            }
        }
    }
}

/// Whether an outcome says what took effect.
const fn is_known(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::ToolReturned(ToolEnd::Cancelled | ToolEnd::TimedOut | ToolEnd::Panicked) => false,
        Outcome::ChildEnded(end) => {
            !matches!(end, ChildEnd::Lost { .. } | ChildEnd::BrokeDown { .. })
        }
        Outcome::ToolReturned(ToolEnd::Failed(failure)) | Outcome::ModelReplied(Err(failure)) => {
            !matches!(failure.commit, CommitDisposition::Unknown)
        }
        _ => true,
    }
}
