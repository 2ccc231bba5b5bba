//! Decides how leases live and die, and how input reaches an execution that waits.
//!
//! Knows nothing about tokens. Invariant: a lease has one revision at a time, and an input counts
//! once, whatever number of times it is submitted.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use async_trait::async_trait;
use runtime_ports::{
    ExecutionDelegationLease, ExecutionSessionFactory, ExecutionSessions, InteractionResponse,
    OperationContext, PortFailure, PortFailureKind, SessionScope,
};
use runtime_types::{CallerScope, DelegationLeaseRef, ExecutionId, OperationId, RequestAuthority};
use tokio::time::Instant;

use crate::{
    FakeInteraction, FakeSessions,
    fake_port::{FakePort, fake_port},
};

/// An [`ExecutionSessionFactory`] over fakes. Clones share it.
///
/// All executions share one [`FakeSessions`]; questions are told apart by execution. The issuer's
/// clock begins at Unix second 1,800,000,000 and follows tokio's. Names for a
/// [`FaultPlan`](crate::FaultPlan): `sessions.establish_delegation`, `sessions.create`,
/// `sessions.renew_delegation`, `sessions.revoke_delegation`, `sessions.submit_input`.
#[derive(Clone)]
pub struct FakeSessionFactory {
    port: FakePort<Issuer, SessionCall>,
    fakes: FakeSessions,
}

/// What a [`FakeSessionFactory`] was asked. Of a lease only the revision is kept: its reference is
/// a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionCall {
    /// Give this caller a lease within this scope.
    Establish(CallerScope, SessionScope),
    /// Make the ports of this scope.
    Create(CallerScope, SessionScope),
    /// Prolong the lease of this revision.
    Renew(CallerScope, u64),
    /// End the lease of this revision.
    Revoke(CallerScope, u64),
    /// Deliver input: caller, execution, its operation, the question's id and the answer.
    Submit(CallerScope, ExecutionId, OperationId, String, InteractionResponse),
}

struct Issuer {
    began: Instant,
    ttl: Duration,
    leases: BTreeMap<String, Lease>,
    executions: HashMap<ExecutionId, CallerScope>,
    inputs: HashMap<OperationId, Input>,
}

struct Lease {
    caller: CallerScope,
    execution: ExecutionId,
    revision: u64,
    expires: Duration,
    revoked: bool,
}

#[derive(PartialEq, Eq)]
struct Input {
    execution: ExecutionId,
    request_id: String,
    response: InteractionResponse,
}

const ISSUER_EPOCH_SECONDS: u64 = 1_800_000_000;

fake_port!(FakeSessionFactory, SessionCall);

impl FakeSessionFactory {
    /// Makes these fakes the ports of every execution; leases live for an hour.
    #[must_use]
    pub fn new(fakes: FakeSessions) -> Self {
        let issuer = Issuer {
            began: Instant::now(),
            ttl: Duration::from_hours(1),
            leases: BTreeMap::new(),
            executions: HashMap::new(),
            inputs: HashMap::new(),
        };
        Self { port: FakePort::new(issuer), fakes }
    }

    /// Leases live this long, from the next one that is established or renewed.
    #[must_use]
    pub fn with_ttl(self, ttl: Duration) -> Self {
        self.port.world().ttl = ttl;
        self
    }

    /// The fakes that it hands out.
    #[must_use]
    pub const fn fakes(&self) -> &FakeSessions {
        &self.fakes
    }

    /// Number of leases that are neither revoked nor expired.
    #[must_use]
    pub fn living_leases(&self) -> usize {
        let issuer = self.port.world();
        issuer.leases.values().filter(|lease| issuer.check(lease).is_ok()).count()
    }
}

impl Issuer {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn establish(&mut self, caller: CallerScope, scope: &SessionScope) -> ExecutionDelegationLease {
        let reference = format!("fake-lease-{}", self.leases.len() + 1);
        let (expires, execution) = (self.now() + self.ttl, scope.execution_id.clone());
        let lease = Lease { caller, execution, revision: 1, expires, revoked: false };
        let shown = lease.shown(&reference);
        self.leases.insert(reference, lease);
        shown
    }

    fn check(&self, lease: &Lease) -> Result<(), PortFailure> {
        if lease.revoked || lease.expires <= self.now() {
            let message = "the lease was revoked or has expired; establish a new one";
            return Err(refused(PortFailureKind::Forbidden, "LEASE_OVER", message));
        }
        Ok(())
    }

    /// The lease that `shown` names, if it is the caller's.
    fn lease(
        &self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<&Lease, PortFailure> {
        let lease = self.leases.get(shown.lease_ref.expose());
        lease.filter(|lease| same_caller(&lease.caller, caller)).ok_or_else(|| {
            let message = "no such lease for this caller; establish one";
            refused(PortFailureKind::Forbidden, "LEASE_UNKNOWN", message)
        })
    }

    /// The lease that `shown` names, if it is alive and `shown` is its newest revision.
    fn living(
        &self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<&Lease, PortFailure> {
        let lease = self.lease(caller, shown)?;
        self.check(lease)?;
        if lease.revision != shown.revision {
            let message = "the lease has a newer revision; use that one";
            return Err(refused(PortFailureKind::Conflict, "LEASE_STALE", message));
        }
        Ok(lease)
    }

    fn create(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
        scope: &SessionScope,
    ) -> Result<(), PortFailure> {
        if self.living(caller, shown)?.execution != scope.execution_id {
            let message = "the lease is for another execution; establish one for this";
            return Err(refused(PortFailureKind::Forbidden, "LEASE_OUT_OF_SCOPE", message));
        }
        self.executions.insert(scope.execution_id.clone(), caller.clone());
        Ok(())
    }

    fn renew(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        self.living(caller, shown)?;
        let (reference, expires) = (shown.lease_ref.expose(), self.now() + self.ttl);
        let lease = self.leases.get_mut(reference).ok_or_else(lost)?;
        (lease.revision, lease.expires) = (lease.revision + 1, expires);
        Ok(lease.shown(reference))
    }

    fn revoke(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure> {
        self.lease(caller, shown)?;
        self.leases.get_mut(shown.lease_ref.expose()).ok_or_else(lost)?.revoked = true;
        Ok(())
    }

    fn submit(
        &mut self,
        caller: &CallerScope,
        operation: &OperationId,
        input: Input,
        human: &FakeInteraction,
    ) -> Result<(), PortFailure> {
        let owner = self.executions.get(&input.execution);
        if !owner.is_some_and(|owner| same_caller(owner, caller)) {
            let message = "no such execution; check its id";
            return Err(refused(PortFailureKind::NotFound, "EXECUTION_NOT_FOUND", message));
        }
        if let Some(before) = self.inputs.get(operation) {
            let message = "this operation submitted another input; use a new operation";
            let conflict = refused(PortFailureKind::Conflict, "INPUT_CONFLICT", message);
            return if *before == input { Ok(()) } else { Err(conflict) };
        }
        let answered = human.answer_in(&input.execution, &input.request_id, input.response.clone());
        answered.map_err(nothing_waits)?;
        self.inputs.insert(operation.clone(), input);
        Ok(())
    }
}

impl Lease {
    fn shown(&self, reference: &str) -> ExecutionDelegationLease {
        ExecutionDelegationLease {
            lease_ref: DelegationLeaseRef::new(reference),
            expires_at_seconds: ISSUER_EPOCH_SECONDS + self.expires.as_secs(),
            revision: self.revision,
        }
    }
}

/// The same person in the same place, whatever their capabilities are by now.
fn same_caller(left: &CallerScope, right: &CallerScope) -> bool {
    let place = |caller: &CallerScope| (caller.tenant_id.clone(), caller.project_id.clone());
    left.subject == right.subject && place(left) == place(right)
}

fn lost() -> PortFailure {
    refused(PortFailureKind::Internal, "LEASE_LOST", "the fake lost a lease; report it")
}

/// Only an answer of the wrong kind is the submitter's fault; else no such question is pending.
fn nothing_waits(failure: PortFailure) -> PortFailure {
    if failure.kind == PortFailureKind::Invalid {
        return failure;
    }
    let message = "no such question waits for an answer; look what is pending";
    refused(PortFailureKind::Conflict, "NOTHING_PENDING", message)
}

fn refused(kind: PortFailureKind, code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(kind, code, message)
}

#[async_trait]
impl ExecutionSessionFactory for FakeSessionFactory {
    async fn establish_delegation(
        &self,
        operation: &OperationContext,
        authority: &RequestAuthority,
        scope: &SessionScope,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        let caller = authority.caller.clone();
        let call = SessionCall::Establish(caller.clone(), scope.clone());
        let effect = |issuer: &mut Issuer| Ok(issuer.establish(caller, scope));
        self.port.call(operation, "sessions.establish_delegation", call, effect).await
    }

    async fn create(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
        scope: &SessionScope,
    ) -> Result<ExecutionSessions, PortFailure> {
        let call = SessionCall::Create(caller.clone(), scope.clone());
        let effect = |issuer: &mut Issuer| issuer.create(caller, delegation, scope);
        self.port.call(operation, "sessions.create", call, effect).await?;
        Ok(self.fakes.ports())
    }

    async fn renew_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        let call = SessionCall::Renew(caller.clone(), delegation.revision);
        let effect = |issuer: &mut Issuer| issuer.renew(caller, delegation);
        self.port.call(operation, "sessions.renew_delegation", call, effect).await
    }

    async fn revoke_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure> {
        let call = SessionCall::Revoke(caller.clone(), delegation.revision);
        let effect = |issuer: &mut Issuer| issuer.revoke(caller, delegation);
        self.port.call(operation, "sessions.revoke_delegation", call, effect).await
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
        let (execution, request_id) = (execution_id.clone(), request_id.to_owned());
        let call = SessionCall::Submit(
            caller.clone(),
            execution.clone(),
            operation_id.clone(),
            request_id.clone(),
            response.clone(),
        );
        let input = Input { execution, request_id, response };
        let human = &self.fakes.interaction;
        let effect = |issuer: &mut Issuer| issuer.submit(caller, operation_id, input, human);
        self.port.call(operation, "sessions.submit_input", call, effect).await
    }
}
