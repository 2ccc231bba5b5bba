//! Decides how an execution acts for its caller, and for how long.
//!
//! Knows nothing about tokens or issuers. Invariant: a lease is renewed before it expires and
//! revoked at the end, whatever the end was.

use async_trait::async_trait;
use runtime_types::{CallerScope, DelegationLeaseRef, ExecutionId, OperationId, RequestAuthority};

use crate::{ExecutionSessions, InteractionResponse, OperationContext, PortFailure, SessionScope};

/// The right to act for a caller until a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionDelegationLease {
    /// The issuer's reference; a secret.
    pub lease_ref: DelegationLeaseRef,
    /// The issuer's Unix time, in seconds. Renew at half of the time to live, on the monotonic
    /// clock of this machine: the two clocks may disagree.
    pub expires_at_seconds: u64,
    /// Grows by one with each renewal.
    pub revision: u64,
}

/// Makes the ports of executions and carries input to those that wait.
///
/// # Contract
/// - A lease belongs to the caller of its authority and to the execution of its scope. It is alive
///   until it expires or is revoked. Its revision is 1 when it is established.
/// - `renew_delegation` takes the newest revision of a living lease, and gives the next one, which
///   expires later or at the same time. `create` takes the newest revision of a living lease for
///   the execution of its scope, any number of times: a process that goes on with an execution
///   makes its ports again.
/// - An older revision is `Conflict`. A lease that was revoked, has expired, is unknown, is another
///   caller's, or is for another execution is `Forbidden`.
/// - `revoke_delegation` takes any revision, is idempotent, and takes an expired lease, too.
/// - `submit_input` answers a question that an execution prepared and that has no answer. It is
///   deduplicated by `operation_id`: the same input again is `Ok` and delivers nothing, another one
///   is `Conflict`. Without such a question it is refused as `Conflict`, and the operation is free;
///   an approval without a decision is `Invalid`. An execution that is unknown or another caller's
///   is `NotFound`.
/// - A caller is known by subject, tenant and project, whatever their capabilities are by now.
/// - No failure repeats a lease's reference, or an input.
///
/// # Cancellation
/// An interrupted call has happened or not; its failure says `Unknown` unless it is known. One that
/// was interrupted before it began is not committed.
#[async_trait]
pub trait ExecutionSessionFactory: Send + Sync {
    /// Obtains a lease for `authority` within `scope`.
    async fn establish_delegation(
        &self,
        operation: &OperationContext,
        authority: &RequestAuthority,
        scope: &SessionScope,
    ) -> Result<ExecutionDelegationLease, PortFailure>;

    /// Makes the ports of an execution.
    async fn create(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
        scope: &SessionScope,
    ) -> Result<ExecutionSessions, PortFailure>;

    /// Prolongs a lease.
    async fn renew_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, PortFailure>;

    /// Ends a lease.
    async fn revoke_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure>;

    /// Delivers input to an execution that waits for it.
    #[expect(clippy::too_many_arguments, reason = "the seed fixes this signature")]
    async fn submit_input(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        execution_id: &ExecutionId,
        operation_id: &OperationId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure>;
}
