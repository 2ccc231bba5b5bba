//! The saboteur of session factories.
//!
//! Does one thing wrong with a lease or an input. Knows the honest factory below it by its port
//! only.

mod inputs;
mod leases;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    delegation::{DelegationCapabilities, DelegationHarness, SCENARIOS},
};
use runtime_ports::{
    CommitDisposition, ExecutionDelegationLease, ExecutionSessionFactory, ExecutionSessions,
    InteractionResponse, OperationContext, PortFailure, PortFailureKind, SessionScope,
};
use runtime_types::{CallerScope, ExecutionId, OperationId, RequestAuthority};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeDelegationHarness,
    matrix::{faults, prove},
};

faults! {
    /// What the saboteur does wrong.
    DelegationFault {
        /// Begins with revision 0.
        CountsFromZero,
        /// Gives all callers one lease.
        HasOneLease,
        /// Gives a renewal under the old revision.
        KeepsTheRevision,
        /// Renews with a lease of another reference.
        RenewsWithAnother,
        /// Lets a renewal expire at once, as it says.
        ShortensRenewals,
        /// Takes every revision for the newest.
        TakesOldRevisions,
        /// Says of an old revision that it is forbidden.
        ForbidsOldRevisions,
        /// Makes ports once.
        MakesPortsOnce,
        /// Makes ports of another world each time.
        MakesOtherPorts,
        /// Does not end what was revoked.
        ForgetsRevocations,
        /// Refuses to revoke again.
        RevokesOnce,
        /// Refuses to revoke an older revision.
        RevokesTheNewestOnly,
        /// Lets leases live for ever.
        NeverExpires,
        /// Refuses to revoke what has expired.
        KeepsTheExpired,
        /// Lets a lease expire with its first term.
        ForgetsRenewals,
        /// Does not look who uses a lease.
        TakesAnyCaller,
        /// Knows callers by subject alone.
        KnowsSubjectsOnly,
        /// Knows callers by their capabilities, too.
        ComparesCapabilities,
        /// Does not look at the execution of a lease.
        TakesAnyExecution,
        /// Says that an unknown lease was not found.
        FindsNoLease,
        /// Repeats the reference that it refuses.
        RepeatsReferences,

        /// Loses the decision of an input.
        LosesDecisions,
        /// Refuses the same input again.
        RefusesRepetition,
        /// Says Ok to another input of an operation.
        TakesOtherInputs,
        /// Says Ok to an input for an answered question.
        SwallowsLateInputs,
        /// Says that a question was not found.
        FindsNoQuestion,
        /// Remembers the operation of an input that it refused.
        RemembersRefusals,
        /// Repeats the input that it refuses.
        RepeatsInputs,
        /// Takes an approval without a decision for approved.
        ApprovesByDefault,
        /// Says that another caller's execution is forbidden.
        ForbidsExecutions,
        /// Lets everybody answer.
        TakesInputOfAnybody,
        /// Says Ok to an input for an unknown execution.
        SwallowsUnknownExecutions,
        /// Knows questions by their id alone.
        MixesExecutions,
        /// Refuses an input during another one.
        TakesOneAtATime,
        /// Says Ok to all inputs at once.
        LetsAllWin,

        /// Goes on although the call is over.
        GoesOnAnyway,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,
    }
}

use DelegationFault as Fault;

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, DelegationFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<DelegationFault>);

#[async_trait]
impl DelegationHarness for SabotagedHarness {
    fn capabilities(&self) -> DelegationCapabilities {
        FakeDelegationHarness.capabilities()
    }

    async fn stage(&self, ttl: Duration) -> Result<Arc<dyn ExecutionSessionFactory>, Unstageable> {
        let Some(fault) = self.0 else { return FakeDelegationHarness.stage(ttl).await };
        let ttl = match fault {
            Fault::NeverExpires => Duration::from_secs(36_000),
            _ => ttl,
        };
        let honest = FakeDelegationHarness.stage(ttl).await?;
        let spare = FakeDelegationHarness.stage(ttl).await?;
        Ok(Arc::new(Saboteur { honest, spare, fault, ttl, memory: Mutex::default() }))
    }
}

/// What the saboteur remembers.
#[derive(Default)]
struct Memory {
    /// The newest revision of each lease, by reference.
    newest: HashMap<String, ExecutionDelegationLease>,
    /// Who established each lease, for what, and until when.
    owners: HashMap<String, (CallerScope, SessionScope, Instant)>,
    executions: HashMap<ExecutionId, CallerScope>,
    created: Vec<String>,
    revoked: Vec<String>,
    submitted: Vec<OperationId>,
    under_way: usize,
}

/// A factory that does one thing wrong.
struct Saboteur {
    honest: Arc<dyn ExecutionSessionFactory>,
    /// Another honest factory, for ports of another world.
    spare: Arc<dyn ExecutionSessionFactory>,
    fault: DelegationFault,
    ttl: Duration,
    memory: Mutex<Memory>,
}

impl Saboteur {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frame(&self, operation: &OperationContext) -> OperationContext {
        if self.fault != Fault::GoesOnAnyway {
            return operation.clone();
        }
        let cancellation = CancellationToken::new();
        let deadline = Instant::now() + Duration::from_secs(60);
        OperationContext { cancellation, deadline, ..operation.clone() }
    }

    fn told<T>(&self, outcome: Result<T, PortFailure>) -> Result<T, PortFailure> {
        outcome.map_err(|mut failure| {
            match self.fault {
                Fault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
                Fault::FlattensKinds => failure.kind = PortFailureKind::Internal,
                _ => {}
            }
            failure
        })
    }
}

fn refused(kind: PortFailureKind, message: &str) -> PortFailure {
    PortFailure::rejected(kind, "SABOTAGED", message)
}

#[async_trait]
impl ExecutionSessionFactory for Saboteur {
    async fn establish_delegation(
        &self,
        operation: &OperationContext,
        authority: &RequestAuthority,
        scope: &SessionScope,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        let outcome = self.establish_badly(&self.frame(operation), authority, scope).await;
        self.told(outcome)
    }

    async fn create(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
        scope: &SessionScope,
    ) -> Result<ExecutionSessions, PortFailure> {
        let outcome = self.create_badly(&self.frame(operation), caller, delegation, scope).await;
        self.told(outcome)
    }

    async fn renew_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        let outcome = self.renew_badly(&self.frame(operation), caller, delegation).await;
        self.told(outcome)
    }

    async fn revoke_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure> {
        let outcome = self.revoke_badly(&self.frame(operation), caller, delegation).await;
        self.told(outcome)
    }

    async fn submit_input(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        execution_id: &ExecutionId,
        operation_id: &OperationId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        let input = inputs::Input { caller, execution_id, operation_id, request_id, response };
        let outcome = self.submit_badly(&self.frame(operation), input).await;
        self.told(outcome)
    }
}
