//! What the saboteur does wrong with calls: which run a child, which wait, and how they end.
//!
//! Knows nothing about what is told of them.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind as Kind, SubagentOutcome,
    SubagentRequest,
};
use tokio::time::sleep;

use super::{Known, Saboteur, SubagentFault as Fault};

type End = Result<SubagentOutcome, PortFailure>;

/// How many tasks a forgetful saboteur remembers.
const REMEMBERED: usize = 100;

impl Saboteur {
    pub(super) async fn execute_badly(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> End {
        let given = request.clone();
        let frame = self.frame(operation);
        self.memory().lent.push(operation.cancellation.clone());
        if let Some(end) = self.remembered(&given).await {
            return end;
        }
        let request = self.renamed(operation, self.reworded(request));
        let _turn = match self.fault {
            Fault::RunsOneAtATime => Some(self.one_at_a_time.lock().await),
            _ => None,
        };
        let was_at_work = self.begin(&given);
        let leaving = Leaving { saboteur: self, id: &given.request_id };
        let end = self.run(&frame, request).await;
        drop(leaving);
        self.note(&given, &end);
        self.left(operation, &given, was_at_work, &end).await;
        self.mixed(end).await
    }

    /// What this saboteur gives without a call of the honest session.
    async fn remembered(&self, request: &SubagentRequest) -> Option<End> {
        let known = self.memory().known.get(&request.request_id).cloned()?;
        match self.fault {
            Fault::AnswersOtherRequests if known.request != *request => known.end,
            Fault::RemembersEveryFailure => known.end.filter(Result::is_err),
            Fault::QueuesOtherRequests if known.request != *request && known.at_work > 0 => {
                sleep(Duration::from_secs(1)).await;
                None
            }
            _ => None,
        }
    }

    /// The request under the id by which the honest session shall know it.
    fn renamed(&self, operation: &OperationContext, request: SubagentRequest) -> SubagentRequest {
        let mut memory = self.memory();
        memory.calls += 1;
        let calls = memory.calls;
        let id = &request.request_id;
        let known = memory.known.get(id);
        let is_other = known.is_some_and(|known| known.request != request);
        let is_failed = known.is_some_and(|known| matches!(known.end, Some(Err(_))));
        let age = memory.finished.iter().rev().position(|finished| finished == id);
        let request_id = match self.fault {
            Fault::RunsAgain => format!("{id}/{calls}"),
            Fault::RunsForEveryOperation => format!("{id}/{}", operation.id),
            Fault::RunsTwiceAtOnce if known.is_some_and(|known| known.at_work > 0) => {
                format!("{id}/{calls}")
            }
            Fault::TakesOtherRequests if is_other => format!("{id}/{calls}"),
            Fault::ForgetsFailures if is_failed => format!("{id}/{calls}"),
            Fault::ForgetsTheOld if age.is_some_and(|age| age > REMEMBERED) => {
                format!("{id}/{calls}")
            }
            _ => return request,
        };
        SubagentRequest { request_id, ..request }
    }

    /// Says whether a child of this id was at work already.
    fn begin(&self, request: &SubagentRequest) -> bool {
        let mut memory = self.memory();
        let fresh = || Known { request: request.clone(), at_work: 0, end: None };
        let known = memory.known.entry(request.request_id.clone()).or_insert_with(fresh);
        known.at_work += 1;
        known.at_work > 1
    }

    async fn run(&self, frame: &OperationContext, request: SubagentRequest) -> End {
        let is_blank = request.prompt.trim().is_empty() && request.max_model_turns > 0;
        if self.fault == Fault::TakesBlankPrompts && is_blank {
            return Ok(SubagentOutcome { answer: "nothing was asked".to_owned() });
        }
        if self.fault != Fault::LetsChildrenGo {
            return self.honest.execute(frame, request).await;
        }
        let (honest, frame) = (Arc::clone(&self.honest), frame.clone());
        // ends with the runtime of its scenario, as a fault
        let task = tokio::spawn(async move { honest.execute(&frame, request).await });
        task.await.expect("the honest session does not panic")
    }

    fn note(&self, request: &SubagentRequest, end: &End) {
        let mut memory = self.memory();
        memory.finished.push(request.request_id.clone());
        if let Ok(outcome) = end {
            memory.latest.clone_from(&outcome.answer);
        }
        if let Some(known) = memory.known.get_mut(&request.request_id) {
            known.end.get_or_insert_with(|| end.clone());
        }
    }

    /// What follows when a call failed.
    async fn left(
        &self,
        operation: &OperationContext,
        request: &SubagentRequest,
        was_at_work: bool,
        end: &End,
    ) {
        let Err(failure) = end else { return };
        let is_ended = matches!(failure.kind, Kind::Canceled | Kind::Timeout)
            && failure.commit != CommitDisposition::NotCommitted;
        match self.fault {
            Fault::Dawdles if is_ended => sleep(Duration::from_secs(2)).await,
            Fault::EndsForEverybody if is_ended && was_at_work => {
                self.nursery.cancels_itself(&request.prompt);
            }
            Fault::LeavesThemWaiting if was_at_work => {
                operation.interrupted().await;
            }
            _ => {}
        }
    }

    async fn mixed(&self, end: End) -> End {
        if self.fault != Fault::MixesAnswers {
            return end;
        }
        sleep(Duration::from_millis(1)).await;
        end.map(|_| SubagentOutcome { answer: self.memory().latest.clone() })
    }
}

/// Notices that a call ended, however it did.
struct Leaving<'a> {
    saboteur: &'a Saboteur,
    id: &'a str,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if let Some(known) = self.saboteur.memory().known.get_mut(self.id) {
            known.at_work -= 1;
        }
    }
}
