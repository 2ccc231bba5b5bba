//! What the saboteur makes of requests, operations and outcomes.
//!
//! Knows nothing about which calls there were.

use std::time::Duration;

use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind as Kind, SubagentOutcome,
    SubagentRequest,
};
use runtime_types::ExecutionId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Saboteur, SubagentFault as Fault};

impl Saboteur {
    /// The request as this saboteur passes it on.
    pub(super) fn reworded(&self, request: SubagentRequest) -> SubagentRequest {
        let SubagentRequest { mut request_id, mut prompt, max_model_turns: turns } = request;
        let max_model_turns = match self.fault {
            Fault::AllowsThreeTurns => turns.min(3),
            Fault::WrapsLimits => turns.wrapping_add(1).saturating_sub(1),
            Fault::AllowsOneMore => turns.saturating_add(1),
            Fault::AllowsAtLeastOne => turns.max(1),
            _ => turns,
        };
        match self.fault {
            Fault::CutsPrompts => prompt.truncate(prompt.floor_char_boundary(10_000)),
            Fault::TellsAscii => prompt.retain(|letter| letter.is_ascii()),
            Fault::KnowsPrompts => request_id.clone_from(&prompt),
            Fault::FoldsIds => request_id = request_id.to_lowercase(),
            Fault::CutsIds => request_id.truncate(request_id.floor_char_boundary(64)),
            Fault::TrimsIds => request_id = request_id.trim().to_owned(),
            _ => {}
        }
        SubagentRequest { request_id, prompt, max_model_turns }
    }

    /// The operation under which the honest session is called.
    pub(super) fn frame(&self, operation: &OperationContext) -> OperationContext {
        let mut frame = operation.clone();
        let is_over = operation.remaining().is_err();
        let runs_anyway = self.fault == Fault::RunsAnyway && is_over;
        if runs_anyway || self.fault == Fault::IgnoresCancel {
            frame.cancellation = CancellationToken::new();
        }
        if runs_anyway || self.fault == Fault::IgnoresDeadline {
            frame.deadline = Instant::now() + Duration::from_secs(3_600);
        }
        if self.fault == Fault::MixesExecutions {
            frame.execution_id = ExecutionId::new("the-one").expect("a valid identifier");
        }
        frame
    }

    /// The outcome as this saboteur tells it.
    pub(super) fn told(
        &self,
        outcome: Result<SubagentOutcome, PortFailure>,
    ) -> Result<SubagentOutcome, PortFailure> {
        let instead = |answer: &str| Ok(SubagentOutcome { answer: answer.to_owned() });
        match (self.fault, outcome) {
            (Fault::AddsALineEnd, Ok(outcome)) => instead(&(outcome.answer + "\n")),
            (Fault::AnswersAtTheLimit, Err(failure)) if is(&failure, Kind::Forbidden) => {
                instead("that was all")
            }
            (Fault::TakesNothingForAnAnswer, Err(failure)) if is(&failure, Kind::Protocol) => {
                instead("")
            }
            (Fault::HidesBreakdowns, Err(failure)) if is(&failure, Kind::Internal) => {
                instead("all is well")
            }
            (Fault::AnswersQuestions, Err(failure)) if is(&failure, Kind::Unavailable) => {
                instead("whichever")
            }
            (_, Err(failure)) => Err(self.blurred(failure)),
            (_, told) => told,
        }
    }

    fn blurred(&self, mut failure: PortFailure) -> PortFailure {
        match self.fault {
            Fault::FlattensKinds => failure.kind = Kind::Protocol,
            Fault::FlattensCodes => "FAILED".clone_into(&mut failure.code),
            Fault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
            Fault::DeniesEffects => failure.commit = CommitDisposition::NotCommitted,
            _ => {}
        }
        failure
    }
}

/// Whether it is a failure of this kind whose effect stands.
fn is(failure: &PortFailure, kind: Kind) -> bool {
    failure.kind == kind && failure.commit != CommitDisposition::NotCommitted
}
