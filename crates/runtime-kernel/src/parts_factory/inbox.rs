//! Decides where questions wait for an answer that comes from outside, and who brings it.
//!
//! Knows nothing about how a question is shown. Invariant: the first answer counts, and a question
//! without one stays.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use runtime_ports::{
    InteractionKind, InteractionRequest, InteractionResponse, InteractionSession, Interruption,
    OperationContext, PortFailure, PortFailureKind,
};
use runtime_types::ExecutionId;
use tokio::sync::watch;

/// Most questions that wait, or have their answer, in one execution.
const MOST_OF_AN_EXECUTION: usize = 10_000;

/// Takes answers to questions that wait.
///
/// # Contract
/// - `answer` gives the question of this id, in this execution, its answer. Without such a question,
///   and when it has its answer, it is `Conflict`; an approval without a decision is `Invalid`. Both
///   change nothing.
/// - Of several answers at once, one is taken.
///
/// # Cancellation
/// An interrupted answer was taken or not; its failure says `Unknown` unless it is known.
#[async_trait]
pub trait AnswerSink: Send + Sync {
    /// Takes an answer.
    async fn answer(
        &self,
        operation: &OperationContext,
        execution: &ExecutionId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure>;
}

/// An [`InteractionSession`] in memory whose answers come through [`AnswerSink`]: questions wait
/// here until somebody brings the answer. Clones share it.
///
/// Of an execution, 10,000 questions are kept, until [`Inbox::forget`].
#[derive(Clone, Default)]
pub struct Inbox(Arc<Mutex<HashMap<ExecutionId, Questions>>>);

type Questions = HashMap<String, Question>;

struct Question {
    request: InteractionRequest,
    order: usize,
    answer: watch::Sender<Option<InteractionResponse>>,
}

impl Inbox {
    /// An inbox without questions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The questions of an execution that have no answer, oldest first.
    #[must_use]
    pub fn pending(&self, execution: &ExecutionId) -> Vec<InteractionRequest> {
        let executions = self.executions();
        let questions = executions.get(execution).into_iter().flat_map(HashMap::values);
        let mut open: Vec<_> =
            questions.filter(|question| question.answer.borrow().is_none()).collect();
        open.sort_by_key(|question| question.order);
        open.into_iter().map(|question| question.request.clone()).collect()
    }

    /// Forgets an execution that is over, with its questions. Who waits for an answer is told that
    /// there is none.
    pub fn forget(&self, execution: &ExecutionId) {
        self.executions().remove(execution);
    }

    /// Nothing panics while it is held, so that a poisoned lock holds whole questions.
    fn executions(&self) -> MutexGuard<'_, HashMap<ExecutionId, Questions>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(
        &self,
        execution: &ExecutionId,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        let mut executions = self.executions();
        let questions = executions.entry(execution.clone()).or_default();
        if let Some(known) = questions.get(&request.request_id) {
            let message = "another question has this id; use a new one";
            let conflict = || refused(PortFailureKind::Conflict, "interaction_conflict", message);
            return if known.request == request { Ok(()) } else { Err(conflict()) };
        }
        let order = questions.len();
        if order >= MOST_OF_AN_EXECUTION {
            let message = "the execution has asked too many questions; forget it when it is over";
            return Err(refused(PortFailureKind::Unavailable, "inbox_full", message));
        }
        let (id, answer) = (request.request_id.clone(), watch::Sender::new(None));
        questions.insert(id, Question { request, order, answer });
        Ok(())
    }

    fn take(
        &self,
        execution: &ExecutionId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        let executions = self.executions();
        let question = executions.get(execution).and_then(|questions| questions.get(request_id));
        let question = question.filter(|question| question.answer.borrow().is_none());
        let question = question.ok_or_else(|| {
            let message = "no such question waits for an answer; look what is pending";
            refused(PortFailureKind::Conflict, "nothing_pending", message)
        })?;
        let is_approval = question.request.kind == InteractionKind::Approval;
        if is_approval && response.decision.is_none() {
            let message = "an approval is answered with a decision";
            return Err(refused(PortFailureKind::Invalid, "decision_missing", message));
        }
        question.answer.send_replace(Some(response));
        Ok(())
    }
}

fn refused(kind: PortFailureKind, code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(kind, code, message)
}

#[async_trait]
impl InteractionSession for Inbox {
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        self.register(&operation.execution_id, request)
    }

    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        let answer = {
            let executions = self.executions();
            let questions = executions.get(&operation.execution_id);
            let question = questions.and_then(|questions| questions.get(request_id));
            question.map(|question| question.answer.subscribe())
        };
        let mut answer = answer.ok_or_else(|| {
            let message = "no such question was prepared; prepare it first";
            refused(PortFailureKind::NotFound, "interaction_not_found", message)
        })?;
        let told = operation.bounded(answer.wait_for(Option::is_some)).await;
        // A wait has no effect: whatever ends it, nothing was sent.
        let told = told.map_err(Interruption::before_sending)?;
        told.ok().and_then(|told| told.clone()).ok_or_else(|| {
            let message = "the execution was forgotten; nobody answers any more";
            refused(PortFailureKind::Unavailable, "inbox_forgot", message)
        })
    }
}

#[async_trait]
impl AnswerSink for Inbox {
    async fn answer(
        &self,
        operation: &OperationContext,
        execution: &ExecutionId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        self.take(execution, request_id, response)
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inbox").field("executions", &self.executions().len()).finish()
    }
}
