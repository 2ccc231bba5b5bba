//! Decides how questions reach a human who is scripted, or played by the test.
//!
//! Knows nothing about how a question is shown. Invariant: a question is registered before it is
//! visible, and its first answer counts.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::{
    InteractionKind, InteractionRequest, InteractionResponse, InteractionSession, OperationContext,
    PortFailure, PortFailureKind,
};
use runtime_types::ExecutionId;
use tokio::sync::Notify;

use crate::{
    HumanStep,
    fake_port::{FakePort, fake_port, scripted},
    model_step::shortened,
    script::Script,
};

/// An [`InteractionSession`] in memory. Clones share it.
///
/// Names for a [`FaultPlan`](crate::FaultPlan): `interaction.prepare`, `interaction.wait`.
///
/// ```
/// use in_memory_fakes::{FakeInteraction, HumanStep};
///
/// let scripted = FakeInteraction::new([HumanStep::approve(), HumanStep::text("blue")]);
/// let played_by_the_test = FakeInteraction::manual();
/// let nobody_there = FakeInteraction::unavailable();
/// # scripted.unchecked();
/// ```
#[derive(Clone)]
pub struct FakeInteraction {
    port: FakePort<Board, InteractionCall>,
    script: Arc<Script<HumanStep>>,
    human: Human,
    answered: Arc<Notify>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Human {
    Scripted,
    Test,
    Absent,
}

/// What a [`FakeInteraction`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InteractionCall {
    /// Register this question.
    Prepare(InteractionRequest),
    /// Wait for the answer to the question of this id.
    Wait(String),
}

/// What happened to a question, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InteractionEvent {
    /// It was registered; nobody can see it yet.
    Prepared(String),
    /// It can be seen and answered.
    Visible(String),
    /// It got its one answer.
    Answered(String),
}

#[derive(Default)]
struct Board {
    questions: Vec<Question>,
    events: Vec<InteractionEvent>,
}

struct Question {
    execution: ExecutionId,
    request: InteractionRequest,
    answer: Option<InteractionResponse>,
}

fake_port!(FakeInteraction, InteractionCall);
scripted!(FakeInteraction);

impl FakeInteraction {
    /// A human who reacts to each new question with the next step, at once.
    #[must_use]
    pub fn new(steps: impl IntoIterator<Item = HumanStep>) -> Self {
        Self::with(Human::Scripted, steps.into_iter().collect())
    }

    /// A human who is played by the test, with [`answer`](Self::answer).
    #[must_use]
    pub fn manual() -> Self {
        Self::with(Human::Test, Vec::new())
    }

    /// Nobody can be asked: `prepare` is `Unavailable`.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::with(Human::Absent, Vec::new())
    }

    fn with(human: Human, steps: Vec<HumanStep>) -> Self {
        let script = Arc::new(Script::new("FakeInteraction", steps));
        Self { port: FakePort::new(Board::default()), script, human, answered: Arc::default() }
    }

    /// Answers the oldest question of this id that has no answer yet, in whatever execution.
    ///
    /// # Errors
    /// `NotFound` when there is no such question, `Conflict` when it has its answer, `Invalid` when
    /// an approval is answered without a decision.
    pub fn answer(
        &self,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        let named = |question: &Question| question.request.request_id == request_id;
        self.answer_first(named, response)
    }

    /// Answers the question of this id in this execution.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn answer_in(
        &self,
        execution: &ExecutionId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        let named = |question: &Question| question.is(execution, request_id);
        self.answer_first(named, response)
    }

    fn answer_first(
        &self,
        named: impl Fn(&Question) -> bool,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        self.port.world().answer(named, response)?;
        self.answered.notify_waiters();
        Ok(())
    }

    /// The questions without an answer, oldest first.
    #[must_use]
    pub fn pending(&self) -> Vec<InteractionRequest> {
        let board = self.port.world();
        let open = board.questions.iter().filter(|question| question.answer.is_none());
        open.map(|question| question.request.clone()).collect()
    }

    /// What happened to all questions, in order.
    #[must_use]
    pub fn events(&self) -> Vec<InteractionEvent> {
        self.port.world().events.clone()
    }

    fn register(
        &self,
        execution: &ExecutionId,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        if self.human == Human::Absent {
            let message = "nobody can be asked; answer beforehand, or run where somebody can";
            return Err(refused(PortFailureKind::Unavailable, "NOBODY_TO_ASK", message));
        }
        let mut board = self.port.world();
        if let Some(question) = board.question(execution, &request.request_id) {
            let message = "another question has this id; use a new one";
            let conflict = refused(PortFailureKind::Conflict, "INTERACTION_CONFLICT", message);
            return if question.request == request { Ok(()) } else { Err(conflict) };
        }
        let reaction = match self.human {
            Human::Scripted => self.script.next(described(&request))?,
            Human::Test | Human::Absent => HumanStep::silence(),
        };
        board.show(execution.clone(), request, reaction)
    }

    async fn first_answer(
        &self,
        execution: &ExecutionId,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        loop {
            // Made before the look, it also hears an answer that comes right after it.
            let changed = self.answered.notified();
            let Some(answer) = self.port.world().answer_to(execution, request_id)? else {
                changed.await;
                continue;
            };
            return Ok(answer);
        }
    }
}

impl Question {
    fn is(&self, execution: &ExecutionId, request_id: &str) -> bool {
        self.execution == *execution && self.request.request_id == request_id
    }

    fn take(&mut self, response: InteractionResponse) -> Result<(), PortFailure> {
        if self.answer.is_some() {
            let message = "the question has its answer; the first one counts";
            return Err(refused(PortFailureKind::Conflict, "ALREADY_ANSWERED", message));
        }
        if self.request.kind == InteractionKind::Approval && response.decision.is_none() {
            let message = "an approval is answered with a decision";
            return Err(refused(PortFailureKind::Invalid, "DECISION_MISSING", message));
        }
        self.answer = Some(response);
        Ok(())
    }
}

impl Board {
    fn question(&self, execution: &ExecutionId, request_id: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.is(execution, request_id))
    }

    fn show(
        &mut self,
        execution: ExecutionId,
        request: InteractionRequest,
        reaction: HumanStep,
    ) -> Result<(), PortFailure> {
        let id = request.request_id.clone();
        self.events.push(InteractionEvent::Prepared(id.clone()));
        self.questions.push(Question { execution: execution.clone(), request, answer: None });
        self.events.push(InteractionEvent::Visible(id.clone()));
        match reaction.into_response() {
            Some(response) => self.answer(|question| question.is(&execution, &id), response),
            None => Ok(()),
        }
    }

    fn answer(
        &mut self,
        named: impl Fn(&Question) -> bool,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        let open = |question: &Question| named(question) && question.answer.is_none();
        let position = self.questions.iter().position(open);
        let position = position.or_else(|| self.questions.iter().position(&named));
        let question = position.and_then(|position| self.questions.get_mut(position));
        let question = question.ok_or_else(not_prepared)?;
        question.take(response)?;
        self.events.push(InteractionEvent::Answered(question.request.request_id.clone()));
        Ok(())
    }

    fn answer_to(
        &self,
        execution: &ExecutionId,
        request_id: &str,
    ) -> Result<Option<InteractionResponse>, PortFailure> {
        let question = self.question(execution, request_id).ok_or_else(not_prepared)?;
        Ok(question.answer.clone())
    }
}

fn not_prepared() -> PortFailure {
    let message = "no such question was prepared; prepare it first";
    refused(PortFailureKind::NotFound, "INTERACTION_NOT_FOUND", message)
}

fn refused(kind: PortFailureKind, code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(kind, code, message)
}

fn described(request: &InteractionRequest) -> String {
    format!("{:?} {}: {}", request.kind, request.request_id, shortened(&request.prompt))
}

#[async_trait]
impl InteractionSession for FakeInteraction {
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        let call = InteractionCall::Prepare(request.clone());
        let effect = async { self.register(&operation.execution_id, request) };
        self.port.call_async(operation, "interaction.prepare", call, effect).await
    }

    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        let call = InteractionCall::Wait(request_id.to_owned());
        let effect = async {
            let answer = self.first_answer(&operation.execution_id, request_id);
            // A wait has no effect: whatever ends it, nothing was sent.
            let ended = operation.bounded(answer).await;
            ended.unwrap_or_else(|interruption| Err(interruption.before_sending()))
        };
        self.port.call_async(operation, "interaction.wait", call, effect).await
    }
}
