//! What the saboteur does wrong with leases.
//!
//! Knows nothing about inputs.

use runtime_ports::{
    ExecutionDelegationLease, ExecutionSessions, OperationContext, PortFailure,
    PortFailureKind as Kind, SessionScope,
};
use runtime_types::{CallerScope, CredentialHandle, DelegationLeaseRef, RequestAuthority};
use tokio::time::Instant;

use super::{Fault, Saboteur, refused};

type Leased = Result<ExecutionDelegationLease, PortFailure>;

impl Saboteur {
    pub(super) async fn establish_badly(
        &self,
        operation: &OperationContext,
        authority: &RequestAuthority,
        scope: &SessionScope,
    ) -> Leased {
        if self.fault == Fault::HasOneLease
            && let Some(first) = self.memory().newest.values().next().cloned()
        {
            return Ok(first);
        }
        let lease = self.honest.establish_delegation(operation, authority, scope).await?;
        let owner = (authority.caller.clone(), scope.clone(), Instant::now() + self.ttl);
        self.memory().owners.insert(lease.lease_ref.expose().to_owned(), owner);
        Ok(self.shown(lease))
    }

    /// Notes the newest revision; shows what this saboteur makes of it.
    fn shown(&self, lease: ExecutionDelegationLease) -> ExecutionDelegationLease {
        self.memory().newest.insert(lease.lease_ref.expose().to_owned(), lease.clone());
        match self.fault {
            Fault::CountsFromZero => {
                ExecutionDelegationLease { revision: lease.revision - 1, ..lease }
            }
            _ => lease,
        }
    }

    /// What the honest factory is shown in the place of this lease, and by whom.
    fn swapped(
        &self,
        caller: &CallerScope,
        lease: &ExecutionDelegationLease,
    ) -> (CallerScope, ExecutionDelegationLease) {
        let memory = self.memory();
        let reference = lease.lease_ref.expose();
        let newest = memory.newest.get(reference);
        let owner = memory.owners.get(reference).map(|owner| &owner.0);
        let caller = match (self.fault, owner) {
            (Fault::TakesAnyCaller, Some(owner)) => owner.clone(),
            (Fault::KnowsSubjectsOnly, Some(owner)) if owner.subject == caller.subject => {
                owner.clone()
            }
            _ => caller.clone(),
        };
        let mut lease = lease.clone();
        match (self.fault, newest) {
            (Fault::CountsFromZero, _) => lease.revision += 1,
            (Fault::TakesOldRevisions | Fault::KeepsTheRevision, Some(newest)) => {
                lease.revision = newest.revision;
            }
            (Fault::RenewsWithAnother, _) => {
                let reference = reference.trim_end_matches('\'');
                lease.lease_ref = DelegationLeaseRef::new(reference);
            }
            _ => {}
        }
        (caller, lease)
    }

    /// A refusal that the honest factory would not give.
    fn unfair(
        &self,
        caller: &CallerScope,
        lease: &ExecutionDelegationLease,
    ) -> Option<PortFailure> {
        let memory = self.memory();
        let reference = lease.lease_ref.expose();
        let owner = memory.owners.get(reference);
        let is_old = memory.newest.get(reference).is_some_and(|it| it.revision > lease.revision);
        match self.fault {
            Fault::ForbidsOldRevisions if is_old => Some(refused(Kind::Forbidden, "old")),
            Fault::ForgetsRenewals if owner.is_some_and(|owner| owner.2 <= Instant::now()) => {
                Some(refused(Kind::Forbidden, "expired"))
            }
            Fault::ComparesCapabilities if owner.is_some_and(|owner| owner.0 != *caller) => {
                Some(refused(Kind::Forbidden, "another"))
            }
            Fault::FindsNoLease if owner.is_none() => Some(refused(Kind::NotFound, "unknown")),
            Fault::RepeatsReferences if owner.is_none() => {
                Some(refused(Kind::Forbidden, reference))
            }
            _ => None,
        }
    }

    pub(super) async fn create_badly(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        lease: &ExecutionDelegationLease,
        scope: &SessionScope,
    ) -> Result<ExecutionSessions, PortFailure> {
        operation.remaining()?;
        if let Some(unfair) = self.unfair(caller, lease) {
            return Err(unfair);
        }
        let reference = lease.lease_ref.expose().to_owned();
        let (caller, lease) = self.swapped(caller, lease);
        let scope = match (self.fault, self.memory().owners.get(&reference)) {
            (Fault::TakesAnyExecution, Some(owner)) => owner.1.clone(),
            _ => scope.clone(),
        };
        let ports = self.honest.create(operation, &caller, &lease, &scope).await?;
        let was_created = {
            let mut memory = self.memory();
            memory.executions.insert(scope.execution_id.clone(), caller.clone());
            let was_created = memory.created.contains(&reference);
            memory.created.push(reference);
            was_created
        };
        match self.fault {
            Fault::MakesPortsOnce if was_created => Err(refused(Kind::Conflict, "once is enough")),
            Fault::MakesOtherPorts if was_created => {
                self.other_ports(operation, &caller, &scope).await
            }
            _ => Ok(ports),
        }
    }

    async fn other_ports(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        scope: &SessionScope,
    ) -> Result<ExecutionSessions, PortFailure> {
        let credential = CredentialHandle::new("none");
        let authority = RequestAuthority { caller: caller.clone(), credential };
        let lease = self.spare.establish_delegation(operation, &authority, scope).await?;
        self.spare.create(operation, caller, &lease, scope).await
    }

    pub(super) async fn renew_badly(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        given: &ExecutionDelegationLease,
    ) -> Leased {
        operation.remaining()?;
        if let Some(unfair) = self.unfair(caller, given) {
            return Err(unfair);
        }
        let (caller, lease) = self.swapped(caller, given);
        let renewed = self.honest.renew_delegation(operation, &caller, &lease).await?;
        let shown = self.shown(renewed);
        Ok(match self.fault {
            Fault::KeepsTheRevision => {
                ExecutionDelegationLease { revision: given.revision, ..shown }
            }
            Fault::ShortensRenewals => ExecutionDelegationLease { expires_at_seconds: 1, ..shown },
            Fault::RenewsWithAnother => {
                let reference = format!("{}'", given.lease_ref.expose());
                ExecutionDelegationLease { lease_ref: DelegationLeaseRef::new(reference), ..shown }
            }
            _ => shown,
        })
    }

    pub(super) async fn revoke_badly(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        given: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        if let Some(unfair) = self.unfair(caller, given) {
            return Err(unfair);
        }
        let reference = given.lease_ref.expose().to_owned();
        let (is_old, is_expired, was_revoked) = {
            let memory = self.memory();
            let newest = memory.newest.get(&reference);
            let owner = memory.owners.get(&reference);
            (
                newest.is_some_and(|newest| newest.revision > given.revision),
                owner.is_some_and(|owner| owner.2 <= Instant::now()),
                memory.revoked.contains(&reference),
            )
        };
        match self.fault {
            Fault::ForgetsRevocations => return Ok(()),
            Fault::RevokesOnce if was_revoked => return Err(refused(Kind::Forbidden, "revoked")),
            Fault::RevokesTheNewestOnly if is_old => return Err(refused(Kind::Conflict, "old")),
            Fault::KeepsTheExpired if is_expired => {
                return Err(refused(Kind::Forbidden, "expired"));
            }
            _ => {}
        }
        let (caller, lease) = self.swapped(caller, given);
        self.honest.revoke_delegation(operation, &caller, &lease).await?;
        self.memory().revoked.push(reference);
        Ok(())
    }
}
