//! Decides which leases there are, whose, and which of them are alive.
//!
//! Knows nothing about what a lease opens. Invariants: a lease has one newest revision; a reference
//! cannot be guessed; what has ended never lives again.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use runtime_ports::{ExecutionDelegationLease, PortFailure, PortFailureKind};
use runtime_types::{CallerScope, DelegationLeaseRef, ExecutionId};
use tokio::time::Instant;
use uuid::Uuid;

use super::{KEPT, is_same};
use crate::engine::Clock;

/// How far away the end of a lease is at most: 30 years.
const FAR: Duration = Duration::from_hours(30 * 365 * 24);

/// The leases of a factory.
pub(super) struct Leases {
    ttl: Duration,
    clock: Box<dyn Clock>,
    leases: HashMap<String, Lease>,
}

struct Lease {
    caller: CallerScope,
    execution: ExecutionId,
    revision: u64,
    expires: Instant,
    is_revoked: bool,
}

impl Lease {
    fn is_alive(&self) -> bool {
        !self.is_revoked && self.expires > Instant::now()
    }
}

impl Leases {
    pub(super) fn new(ttl: Duration, clock: Box<dyn Clock>) -> Self {
        Self { ttl, clock, leases: HashMap::new() }
    }

    pub(super) fn live_for(&mut self, ttl: Duration) {
        self.ttl = ttl.min(FAR);
    }

    pub(super) fn read(&mut self, clock: Box<dyn Clock>) {
        self.clock = clock;
    }

    pub(super) fn establish(
        &mut self,
        caller: &CallerScope,
        execution: &ExecutionId,
    ) -> ExecutionDelegationLease {
        if self.leases.len() >= KEPT {
            self.leases.retain(|_, lease| lease.is_alive());
        }
        // Of 122 random bits: whoever guesses one does not live that long.
        let reference = Uuid::new_v4().to_string();
        let (caller, execution) = (caller.clone(), execution.clone());
        let expires = Instant::now() + self.ttl;
        let lease = Lease { caller, execution, revision: 1, expires, is_revoked: false };
        self.leases.insert(reference.clone(), lease);
        self.shown(&reference, 1)
    }

    /// The executions that a living lease is for.
    pub(super) fn living_executions(&self) -> HashSet<ExecutionId> {
        let living = self.leases.values().filter(|lease| lease.is_alive());
        living.map(|lease| lease.execution.clone()).collect()
    }

    /// Whether this lease opens that execution.
    pub(super) fn admit(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
        execution: &ExecutionId,
    ) -> Result<(), PortFailure> {
        if self.newest(caller, shown)?.execution == *execution {
            return Ok(());
        }
        let message = "the lease is for another execution; establish one for this";
        Err(refused(PortFailureKind::Forbidden, "lease_out_of_scope", message))
    }

    pub(super) fn renew(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        let expires = Instant::now() + self.ttl;
        let lease = self.newest(caller, shown)?;
        lease.revision += 1;
        // One that lives longer already is not shortened.
        lease.expires = lease.expires.max(expires);
        let revision = lease.revision;
        let left = lease.expires.saturating_duration_since(Instant::now());
        Ok(self.shown_with(shown.lease_ref.expose(), revision, left))
    }

    pub(super) fn revoke(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure> {
        self.known(caller, shown)?.is_revoked = true;
        Ok(())
    }

    /// The lease that is shown, if it is this caller's.
    fn known(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<&mut Lease, PortFailure> {
        let lease = self.leases.get_mut(shown.lease_ref.expose());
        lease.filter(|lease| is_same(&lease.caller, caller)).ok_or_else(|| {
            let message = "no such lease for this caller; establish one";
            refused(PortFailureKind::Forbidden, "lease_unknown", message)
        })
    }

    /// The lease that is shown, if it is alive and this is its newest revision.
    fn newest(
        &mut self,
        caller: &CallerScope,
        shown: &ExecutionDelegationLease,
    ) -> Result<&mut Lease, PortFailure> {
        let lease = self.known(caller, shown)?;
        if !lease.is_alive() {
            let message = "the lease was revoked or has expired; establish a new one";
            return Err(refused(PortFailureKind::Forbidden, "lease_over", message));
        }
        if lease.revision != shown.revision {
            let message = "the lease has a newer revision; use that one";
            return Err(refused(PortFailureKind::Conflict, "lease_stale", message));
        }
        Ok(lease)
    }

    fn shown(&self, reference: &str, revision: u64) -> ExecutionDelegationLease {
        self.shown_with(reference, revision, self.ttl)
    }

    fn shown_with(
        &self,
        reference: &str,
        revision: u64,
        left: Duration,
    ) -> ExecutionDelegationLease {
        let now = Duration::from_millis(self.clock.unix_ms());
        ExecutionDelegationLease {
            lease_ref: DelegationLeaseRef::new(reference),
            expires_at_seconds: now.saturating_add(left).as_secs(),
            revision,
        }
    }
}

fn refused(kind: PortFailureKind, code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(kind, code, message)
}
