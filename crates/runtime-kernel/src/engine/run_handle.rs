//! Decides what can be done to a run from outside, and what is learnt of its end.
//!
//! Knows the driver's mailbox; refuses to know what the driver makes of a message. Invariant: every
//! message is answered, or the run is known to be over.

use std::sync::Arc;

use runtime_decision::{BudgetStanding, Refused, RunResult, RunStatus, Spent};
use runtime_ports::ApprovalDecision;
use thiserror::Error;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{AbortHandle, JoinHandle},
};

use super::{
    EventHub, EventStream, SubTaskStatus, SuspendedRun, TraceLosses, WatchOptions,
    run_budget::RunBudget, sub_tasks::SubTasks,
};

/// How many messages may wait for the driver.
pub(super) const MAILBOX: usize = 64;

/// What is told to a driver; boxed on its way, since a mailbox has room for many from the start.
pub(super) enum Message {
    Steer(Arc<str>, oneshot::Sender<Result<SteeringReceipt, Refused>>),
    Decide(Arc<str>, ApprovalDecision, oneshot::Sender<Result<(), Refused>>),
    Cancel(oneshot::Sender<CancelReport>),
    Suspend,
}

/// A run that was started. Clones stand for the same run; when the last one is dropped, a run that
/// [`Agent::start`](super::Agent::start) started is dropped too.
#[derive(Debug, Clone)]
pub struct RunHandle {
    run_id: Arc<str>,
    mailbox: mpsc::Sender<Box<Message>>,
    end: watch::Receiver<Option<Concluded>>,
    hub: EventHub,
    sub_tasks: SubTasks,
    owner: Option<Arc<Owner>>,
    budget: Option<Arc<RunBudget>>,
}

/// What a driver leaves when it is done.
#[derive(Debug, Clone)]
pub(super) struct Concluded {
    pub(super) end: RunEnd,
    pub(super) losses: TraceLosses,
    /// Of a suspended run, the questions of it and of those below.
    pub(super) asking: Vec<Arc<str>>,
    /// What it used, those below included.
    pub(super) spent: Spent,
}

/// Ends the task of a run when nobody holds it any more.
#[derive(Debug)]
pub(super) struct Owner(AbortHandle);

impl Owner {
    pub(super) fn of<T>(task: JoinHandle<T>) -> Self {
        Self(task.abort_handle())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The run was dropped before it ended: what was in flight is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the run was dropped before it ended; its state is lost")]
pub struct RunLost;

/// Why something could not be done to a run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The run is over, suspended, or was dropped.
    #[error("the run is not live; it has ended, is suspended, or was dropped")]
    NotLive,
    /// The run refuses it; nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// How the present life of a run came to its end.
#[derive(Debug, Clone)]
pub enum RunEnd {
    /// It is over.
    Finished(Arc<RunResult>),
    /// It waits to be resumed.
    Suspended(SuspendedRun),
}

impl RunEnd {
    /// What is left of a run that is over.
    ///
    /// # Errors
    /// The run is suspended.
    pub fn finished(self) -> Result<Arc<RunResult>, NotFinished> {
        match self {
            Self::Finished(result) => Ok(result),
            Self::Suspended(_) => Err(NotFinished),
        }
    }

    /// The run, if it waits to be resumed.
    #[must_use]
    pub fn suspended(self) -> Option<SuspendedRun> {
        match self {
            Self::Suspended(run) => Some(run),
            Self::Finished(_) => None,
        }
    }
}

/// The run is suspended: resume it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the run is suspended; resume it to have its result")]
pub struct NotFinished;

/// Why a run could not be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotCancelled {
    /// It is suspended: nothing of it is in flight, and it could still be resumed from its bytes.
    #[error("the run is suspended; end it with Agent::cancel_suspended, or do not resume it")]
    Suspended,
    /// It was dropped.
    #[error(transparent)]
    Lost(#[from] RunLost),
}

/// What became of a steering message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteeringOutcome {
    /// It was put into the history.
    Applied {
        /// In this cycle.
        cycle: u32,
    },
    /// The run ended first; the message stands in `returned_steering` of its result.
    Returned,
    /// The run was suspended first; the message is kept with it.
    Kept,
}

/// Says that a steering message was accepted, and later what became of it.
#[derive(Debug)]
pub struct SteeringReceipt {
    /// Names the message in events and in the result.
    pub steering_id: u64,
    pub(super) outcome: oneshot::Receiver<SteeringOutcome>,
}

impl SteeringReceipt {
    /// Waits until it is known what became of the message.
    ///
    /// # Errors
    /// The run was dropped.
    pub async fn outcome(self) -> Result<SteeringOutcome, RunLost> {
        self.outcome.await.map_err(|_| RunLost)
    }
}

/// What a cancellation found in flight, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelReport {
    /// How the run ended; not always cancelled, when it ended at the same moment.
    pub status: RunStatus,
    /// What ended and said what it had done, and what does nothing by being asked.
    pub settled: Vec<String>,
    /// What may have taken effect; nobody knows.
    pub unknown: Vec<String>,
    /// What is still running after the grace, although it was told to stop and its task aborted:
    /// it blocks its thread.
    pub still_running: Vec<String>,
}

impl RunHandle {
    pub(super) fn new(
        run_id: Arc<str>,
        mailbox: mpsc::Sender<Box<Message>>,
        end: watch::Receiver<Option<Concluded>>,
        hub: EventHub,
    ) -> Self {
        let sub_tasks = SubTasks::default();
        Self { run_id, mailbox, end, hub, sub_tasks, owner: None, budget: None }
    }

    pub(super) fn within(mut self, budget: Option<Arc<RunBudget>>) -> Self {
        self.budget = budget;
        self
    }

    pub(super) fn above(self, sub_tasks: SubTasks) -> Self {
        Self { sub_tasks, ..self }
    }

    pub(super) fn owned_by(mut self, owner: Owner) -> Self {
        self.owner = Some(Arc::new(owner));
        self
    }

    /// Names the run.
    #[must_use]
    pub fn run_id(&self) -> &Arc<str> {
        &self.run_id
    }

    /// A stream of what the run tells from now on. What was told before is in the trace, where one
    /// is attached; [`Agent::watch`](super::Agent::watch) misses nothing.
    #[must_use]
    pub fn events(&self, options: WatchOptions) -> EventStream {
        self.hub.subscribe(options)
    }

    /// The budgets that apply to the run as they stand at this moment, its own first, then those of
    /// the runs above it; none where nothing is limited. Time is no part of them.
    #[must_use]
    pub fn budgets(&self) -> Vec<BudgetStanding> {
        self.budget.as_ref().map(|budget| budget.standing()).unwrap_or_default()
    }

    /// Says something to the run. It is put into the history at the next occasion: after the tool
    /// that is at work, after the first that an answer on its way asks for, or at the start of the
    /// next cycle. The calls of the batch that have not begun by then do not begin.
    ///
    /// # Errors
    /// The run is not live; nothing was accepted.
    pub async fn steer(
        &self,
        prompt: impl Into<Arc<str>>,
    ) -> Result<SteeringReceipt, ControlError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Steer(prompt.into(), reply)).await?;
        Ok(answer.await.map_err(|_| ControlError::NotLive)??)
    }

    /// Allows the call that an approval asks about.
    ///
    /// # Errors
    /// The approval is unknown, was decided before, or the run is not live; nothing was changed.
    pub async fn approve(&self, request_id: &str) -> Result<(), ControlError> {
        self.decide(request_id, ApprovalDecision::Approved).await
    }

    /// Allows the call that an approval asks about, and its like until the run ends.
    ///
    /// # Errors
    /// Those of [`Self::approve`].
    pub async fn approve_for_run(&self, request_id: &str) -> Result<(), ControlError> {
        self.decide(request_id, ApprovalDecision::ApprovedForRun).await
    }

    /// Refuses the call that an approval asks about; the model is told the reason.
    ///
    /// # Errors
    /// Those of [`Self::approve`].
    pub async fn deny(
        &self,
        request_id: &str,
        reason: impl Into<String>,
    ) -> Result<(), ControlError> {
        self.decide(request_id, ApprovalDecision::Denied { reason: reason.into() }).await
    }

    /// Decides about the call that an approval asks about, be it one of this run or of a run below
    /// it.
    ///
    /// # Errors
    /// Those of [`Self::approve`].
    pub async fn decide(
        &self,
        request_id: &str,
        decision: ApprovalDecision,
    ) -> Result<(), ControlError> {
        let mut asked = self.clone();
        loop {
            // The nearest run to whoever asked, as far as it is known by now.
            while let Some(below) = asked.sub_tasks.asking(request_id) {
                asked = below;
            }
            let decided = asked.decide_here(request_id, decision.clone()).await;
            let is_unknown =
                matches!(decided, Err(ControlError::Refused(Refused::UnknownApproval { .. })));
            if !is_unknown || asked.sub_tasks.asking(request_id).is_none() {
                return decided;
            }
        }
    }

    async fn decide_here(
        &self,
        request_id: &str,
        decision: ApprovalDecision,
    ) -> Result<(), ControlError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Decide(request_id.into(), decision, reply)).await?;
        Ok(answer.await.map_err(|_| ControlError::NotLive)??)
    }

    /// Cancels the run and waits for its end, which comes within the grace. Of a run that is over,
    /// nothing was in flight.
    ///
    /// # Errors
    /// The run is suspended, or was dropped; nothing was changed.
    pub async fn cancel(&self) -> Result<CancelReport, NotCancelled> {
        let (reply, report) = oneshot::channel();
        if self.send(Message::Cancel(reply)).await.is_ok()
            && let Ok(report) = report.await
        {
            return Ok(report);
        }
        match self.result().await? {
            RunEnd::Finished(result) => Ok(CancelReport::nothing(result.status)),
            RunEnd::Suspended(_) => Err(NotCancelled::Suspended),
        }
    }

    /// Lets the run settle what is in flight, and waits until it is suspended or has ended.
    ///
    /// # Errors
    /// The run was dropped.
    pub async fn suspend(&self) -> Result<RunEnd, RunLost> {
        // A run that is over already has its end.
        let _ = self.send(Message::Suspend).await;
        self.result().await
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// The run was dropped.
    pub async fn result(&self) -> Result<RunEnd, RunLost> {
        self.concluded().await.map(|concluded| concluded.end)
    }

    /// Waits for the end of the run, and says which of its events the trace did not take. Nothing
    /// is lost without a trace.
    ///
    /// # Errors
    /// The run was dropped.
    pub async fn trace_losses(&self) -> Result<TraceLosses, RunLost> {
        self.concluded().await.map(|concluded| concluded.losses)
    }

    /// The tasks that this run gave to its sub-agents, oldest first.
    #[must_use]
    pub fn sub_tasks(&self) -> Vec<SubTaskStatus> {
        self.sub_tasks.statuses()
    }

    /// The newest run of such a task: to watch it, to say something to it, to cancel it. Cancelling
    /// it leaves this run as it is. It lives no longer than this run, whoever holds its handle.
    #[must_use]
    pub fn sub_task(&self, task_id: &str) -> Option<Self> {
        self.sub_tasks.handle(task_id)
    }

    /// Tells the run to come to a rest, and does not wait for it.
    pub(super) async fn ask_to_suspend(&self) {
        // A run that is over already has its end.
        let _ = self.send(Message::Suspend).await;
    }

    /// Of a run that has come to a rest, the questions that can be answered meanwhile, and what it
    /// used.
    pub(super) async fn rest(&self) -> (Vec<Arc<str>>, Spent) {
        let concluded = self.concluded().await;
        concluded.map(|concluded| (concluded.asking, concluded.spent)).unwrap_or_default()
    }

    async fn concluded(&self) -> Result<Concluded, RunLost> {
        let mut end = self.end.clone();
        let concluded = end.wait_for(Option::is_some).await.map_err(|_| RunLost)?;
        concluded.clone().ok_or(RunLost)
    }

    async fn send(&self, message: Message) -> Result<(), ControlError> {
        self.mailbox.send(Box::new(message)).await.map_err(|_| ControlError::NotLive)
    }
}

impl CancelReport {
    pub(super) const fn nothing(status: RunStatus) -> Self {
        Self { status, settled: Vec::new(), unknown: Vec::new(), still_running: Vec::new() }
    }
}
