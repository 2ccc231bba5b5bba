//! What the saboteur does wrong with inputs.
//!
//! Knows nothing about leases.

use std::time::Duration;

use runtime_ports::{
    ApprovalDecision, InteractionResponse, OperationContext, PortFailure, PortFailureKind as Kind,
};
use runtime_types::{CallerScope, ExecutionId, OperationId};
use tokio::time::sleep;

use super::{Fault, Saboteur, refused};

/// What is submitted, and by whom.
pub(super) struct Input<'a> {
    pub(super) caller: &'a CallerScope,
    pub(super) execution_id: &'a ExecutionId,
    pub(super) operation_id: &'a OperationId,
    pub(super) request_id: &'a str,
    pub(super) response: InteractionResponse,
}

impl Saboteur {
    pub(super) async fn submit_badly(
        &self,
        operation: &OperationContext,
        input: Input<'_>,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let was_submitted = self.memory().submitted.contains(input.operation_id);
        if was_submitted && self.fault == Fault::RefusesRepetition {
            return Err(refused(Kind::Conflict, "once is enough"));
        }
        if was_submitted && self.fault == Fault::RemembersRefusals {
            return Err(refused(Kind::Conflict, "it was refused"));
        }
        let _under_way = self.under_way()?;
        let outcome = self.deliver(operation, &input).await;
        self.judged(&input, was_submitted, outcome)
    }

    /// Takes part in the inputs of this moment.
    fn under_way(&self) -> Result<UnderWay<'_>, PortFailure> {
        let mut memory = self.memory();
        if self.fault == Fault::TakesOneAtATime && memory.under_way > 0 {
            return Err(refused(Kind::Conflict, "one at a time"));
        }
        memory.under_way += 1;
        Ok(UnderWay(self))
    }

    async fn deliver(
        &self,
        operation: &OperationContext,
        input: &Input<'_>,
    ) -> Result<(), PortFailure> {
        if matches!(self.fault, Fault::TakesOneAtATime | Fault::LetsAllWin) {
            sleep(Duration::from_millis(1)).await;
        }
        let mut response = input.response.clone();
        match self.fault {
            Fault::LosesDecisions => response.decision = None,
            Fault::ApprovesByDefault if response.decision.is_none() => {
                response.decision = Some(ApprovalDecision::Approved);
            }
            _ => {}
        }
        let owner = self.memory().executions.get(input.execution_id).cloned();
        let caller = match (self.fault, owner) {
            (Fault::TakesInputOfAnybody, Some(owner)) => owner,
            _ => input.caller.clone(),
        };
        let execution = input.execution_id;
        if self.fault == Fault::MixesExecutions {
            let executions: Vec<_> = self.memory().executions.keys().cloned().collect();
            for other in executions.iter().filter(|other| *other != execution) {
                if self.pass_on(operation, &caller, other, input, &response).await.is_ok() {
                    return Ok(());
                }
            }
        }
        self.pass_on(operation, &caller, execution, input, &response).await
    }

    async fn pass_on(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        execution: &ExecutionId,
        input: &Input<'_>,
        response: &InteractionResponse,
    ) -> Result<(), PortFailure> {
        let (id, request_id, response) = (input.operation_id, input.request_id, response.clone());
        self.honest.submit_input(operation, caller, execution, id, request_id, response).await
    }

    /// What is told of an input that came to this.
    fn judged(
        &self,
        input: &Input<'_>,
        was_submitted: bool,
        outcome: Result<(), PortFailure>,
    ) -> Result<(), PortFailure> {
        let is_new = !was_submitted;
        let kind = outcome.as_ref().err().map(|failure| failure.kind);
        let mut memory = self.memory();
        let is_crowded = memory.under_way > 1;
        if outcome.is_ok() != (self.fault == Fault::RemembersRefusals) {
            memory.submitted.push(input.operation_id.clone());
        }
        let conflicts = kind == Some(Kind::Conflict);
        match self.fault {
            Fault::TakesOtherInputs if conflicts && was_submitted => Ok(()),
            Fault::SwallowsLateInputs if conflicts && is_new && !memory.submitted.is_empty() => {
                Ok(())
            }
            Fault::FindsNoQuestion if conflicts && is_new => {
                Err(refused(Kind::NotFound, "no such question"))
            }
            Fault::RepeatsInputs if conflicts => Err(refused(Kind::Conflict, &input.response.text)),
            Fault::ForbidsExecutions if kind == Some(Kind::NotFound) => {
                Err(refused(Kind::Forbidden, "not yours"))
            }
            Fault::SwallowsUnknownExecutions if kind == Some(Kind::NotFound) => Ok(()),
            Fault::LetsAllWin if conflicts && is_crowded => Ok(()),
            _ => outcome,
        }
    }
}

/// An input as long as it is under way.
struct UnderWay<'a>(&'a Saboteur);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.memory().under_way -= 1;
    }
}
