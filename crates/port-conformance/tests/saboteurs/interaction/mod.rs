//! The saboteur of interaction.
//!
//! Does one thing wrong when it asks or waits. Knows the honest session below it by its port only.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    interaction::{
        Audience, Human, InteractionCapabilities, InteractionHarness, SCENARIOS, StagedInteraction,
    },
};
use runtime_ports::{
    ApprovalDecision, InteractionRequest, InteractionResponse, InteractionSession,
    OperationContext, PortFailure, PortFailureKind,
};
use runtime_types::ExecutionId;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeInteractionHarness,
    matrix::{faults, prove},
};

faults! {
    /// What the saboteur does wrong.
    InteractionFault {
        /// Shows half of the question.
        ShowsHalf,
        /// Refuses to prepare a question again.
        RefusesRepetition,
        /// Asks again what is prepared again.
        AsksTwice,
        /// Takes another question under the same id.
        TakesOtherQuestions,
        /// Asks although it was cancelled or late.
        AsksAnyway,
        /// Forgets its questions when it dies.
        ForgetsQuestions,
        /// Waits for ever where there is nobody.
        WaitsForNobody,

        /// Loses answers that come before the wait.
        LosesEarlyAnswers,
        /// Gives an answer once.
        AnswersOnce,
        /// Gives the latest answer.
        TakesTheLatest,
        /// Approves whatever was decided.
        ApprovesEverything,
        /// Says nothing of the answer's text.
        LosesText,
        /// Gives the first answer to everybody.
        MixesQuestions,
        /// Does not know executions apart.
        MixesExecutions,
        /// Waits for what was never asked.
        WaitsForNothing,

        /// Does not look at the deadline of a wait.
        IgnoresDeadline,
        /// Does not look at the cancellation of a wait.
        IgnoresCancel,
        /// Ends two seconds after it was cancelled or late.
        Dawdles,
        /// Withdraws the question when a wait ends.
        WithdrawsQuestions,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, InteractionFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<InteractionFault>);

#[async_trait]
impl InteractionHarness for SabotagedHarness {
    fn capabilities(&self) -> InteractionCapabilities {
        FakeInteractionHarness.capabilities()
    }

    async fn stage(&self, audience: Audience) -> Result<StagedInteraction, Unstageable> {
        let staged = FakeInteractionHarness.stage(audience).await?;
        Ok(match self.0 {
            Some(fault) => sabotaged(&staged, fault),
            None => staged,
        })
    }
}

fn sabotaged(staged: &StagedInteraction, fault: InteractionFault) -> StagedInteraction {
    let memory = Arc::new(Mutex::default());
    let (honest, human) = (Arc::clone(&staged.session), Arc::clone(&staged.human));
    let session = Arc::new(SabotagedSession { honest, fault, memory: Arc::clone(&memory) });
    StagedInteraction { session, human: Arc::new(SpoiledHuman { honest: human, fault, memory }) }
}

/// What the saboteur remembers of questions and answers.
#[derive(Default)]
struct Memory {
    asked: Vec<InteractionRequest>,
    answers: BTreeMap<String, InteractionResponse>,
    given: Vec<String>,
    withdrawn: bool,
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A session that does one thing wrong.
struct SabotagedSession {
    honest: Arc<dyn InteractionSession>,
    fault: InteractionFault,
    memory: Arc<Mutex<Memory>>,
}

fn refused(kind: PortFailureKind) -> PortFailure {
    PortFailure::rejected(kind, "SABOTAGED", "the saboteur refuses")
}

/// The operation without cancellation, or without deadline.
fn deaf(fault: InteractionFault, operation: &OperationContext) -> OperationContext {
    let (mut deaf, in_an_hour) = (operation.clone(), Instant::now() + Duration::from_secs(3_600));
    let asks_anyway = fault == InteractionFault::AsksAnyway;
    if asks_anyway || fault == InteractionFault::IgnoresCancel {
        deaf.cancellation = CancellationToken::new();
    }
    if asks_anyway || fault == InteractionFault::IgnoresDeadline {
        deaf.deadline = in_an_hour;
    }
    if fault == InteractionFault::MixesExecutions {
        deaf.execution_id = ExecutionId::new("the-one").expect("a valid identifier");
    }
    deaf
}

impl SabotagedSession {
    async fn wait_badly(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        let known = lock(&self.memory).asked.iter().any(|asked| asked.request_id == request_id);
        let nothing = self.fault == InteractionFault::WaitsForNothing && !known;
        let nobody = self.fault == InteractionFault::WaitsForNobody && !known;
        let lost = self.fault == InteractionFault::LosesEarlyAnswers
            && lock(&self.memory).answers.contains_key(request_id);
        if nothing || nobody || lost {
            return Err(operation.interrupted().await.before_sending());
        }
        self.honest.wait(&deaf(self.fault, operation), request_id).await
    }

    fn spoiled(&self, request_id: &str, answer: InteractionResponse) -> InteractionResponse {
        let memory = lock(&self.memory);
        match self.fault {
            InteractionFault::ApprovesEverything => {
                let decision = answer.decision.map(|_| ApprovalDecision::Approved);
                InteractionResponse { decision, ..answer }
            }
            InteractionFault::LosesText => InteractionResponse { text: String::new(), ..answer },
            InteractionFault::TakesTheLatest => memory.answers[request_id].clone(),
            InteractionFault::MixesQuestions => {
                memory.answers.values().next().cloned().unwrap_or(answer)
            }
            _ => answer,
        }
    }
}

#[async_trait]
impl InteractionSession for SabotagedSession {
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        let repeated = lock(&self.memory).asked.contains(&request);
        if repeated && self.fault == InteractionFault::RefusesRepetition {
            return Err(refused(PortFailureKind::Conflict));
        }
        let shown = match self.fault {
            InteractionFault::ShowsHalf => {
                InteractionRequest { digest: None, expires_at: None, ..request.clone() }
            }
            _ => request.clone(),
        };
        match (self.fault, self.honest.prepare(&deaf(self.fault, operation), shown).await) {
            (InteractionFault::TakesOtherQuestions, Err(failure))
                if failure.kind == PortFailureKind::Conflict =>
            {
                Ok(())
            }
            (InteractionFault::WaitsForNobody, Err(_)) => Ok(()),
            (_, Ok(())) => {
                lock(&self.memory).asked.push(request);
                Ok(())
            }
            (_, failed) => failed,
        }
    }

    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        if self.fault == InteractionFault::AnswersOnce
            && lock(&self.memory).given.iter().any(|given| given == request_id)
        {
            return Err(refused(PortFailureKind::NotFound));
        }
        let leaving = Leaving(&self.memory);
        let waited = self.wait_badly(operation, request_id).await;
        drop(leaving);
        if waited.is_err() && self.fault == InteractionFault::Dawdles {
            sleep(Duration::from_secs(2)).await;
        }
        let answer = waited?;
        lock(&self.memory).given.push(request_id.to_owned());
        Ok(self.spoiled(request_id, answer))
    }
}

/// Notices that a wait ended, however it did.
struct Leaving<'a>(&'a Mutex<Memory>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        lock(self.0).withdrawn = true;
    }
}

/// The human before a saboteur.
struct SpoiledHuman {
    honest: Arc<dyn Human>,
    fault: InteractionFault,
    memory: Arc<Mutex<Memory>>,
}

#[async_trait]
impl Human for SpoiledHuman {
    fn sees(&self) -> Vec<InteractionRequest> {
        let memory = lock(&self.memory);
        match self.fault {
            InteractionFault::AsksTwice => memory.asked.clone(),
            InteractionFault::WithdrawsQuestions if memory.withdrawn => Vec::new(),
            _ => self.honest.sees(),
        }
    }

    async fn answers(
        &self,
        execution: &ExecutionId,
        request_id: &str,
        response: InteractionResponse,
    ) {
        lock(&self.memory).answers.insert(request_id.to_owned(), response.clone());
        let the_one = ExecutionId::new("the-one").expect("a valid identifier");
        let execution = match self.fault {
            InteractionFault::MixesExecutions => &the_one,
            _ => execution,
        };
        self.honest.answers(execution, request_id, response).await;
    }

    async fn after_death(&self) -> Result<StagedInteraction, Unstageable> {
        if self.fault == InteractionFault::ForgetsQuestions {
            return FakeInteractionHarness.stage(Audience::Human).await;
        }
        let next = self.honest.after_death().await?;
        Ok(sabotaged(&next, self.fault))
    }
}
