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
/// - `renew_delegation` with a stale `revision` is `Conflict`; a revoked or expired lease is
///   `Forbidden`. `revoke_delegation` is idempotent.
/// - `submit_input` is deduplicated by `operation_id`: the same response again is `Ok`, another one
///   is `Conflict`. When no such request is pending it is refused as `Conflict` and nothing is
///   kept. An execution of another caller is `NotFound`.
///
/// # Cancellation
/// An interrupted call has happened or not; its failure says `Unknown` unless it is known.
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
