//! Decides who asks for leases in the scenarios, for what, and what is asked and answered.
//!
//! Knows nothing about what is expected of the factory.

use std::{collections::BTreeMap, str::FromStr, sync::Arc, time::Duration};

use runtime_ports::{
    ExecutionDelegationLease, ExecutionSessionFactory, ExecutionSessions, InteractionRequest,
    InteractionResponse, OperationContext, PortFailure, ResolvedExecutionContext, SessionScope,
};
use runtime_types::{CallerScope, CredentialHandle, ExecutionId, OperationId, RequestAuthority};
use uuid::Uuid;

use super::DelegationHarness;
use crate::{
    Broken, Proof,
    claim::{PATIENCE, equal, operation, success, within},
};

/// Longer than any scenario.
pub(super) const LONG: Duration = Duration::from_secs(3_600);

pub(super) type Factory = Arc<dyn ExecutionSessionFactory>;

/// A factory, and one caller of it with an execution.
pub(super) struct Office {
    pub(super) factory: Factory,
    pub(super) caller: CallerScope,
    pub(super) scope: SessionScope,
}

/// Somebody of this name.
pub(super) fn caller(subject: &str) -> CallerScope {
    CallerScope {
        subject: named(subject),
        tenant_id: Some(named("tenant")),
        project_id: Some(named("project")),
        capabilities: std::iter::once("run".to_owned()).collect(),
    }
}

/// An identifier of this text.
pub(super) fn named<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is no identifier"))
}

/// A fresh execution.
pub(super) fn scope() -> SessionScope {
    let resolved = ResolvedExecutionContext {
        runtime_instance_id: named("instance"),
        agent_id: "agent".into(),
        runtime_type: "engine".into(),
        model: "model".into(),
        workspace_id: named("workspace"),
        package_id: "package".into(),
        package_version: "1".into(),
        package_digest: None,
        metadata: BTreeMap::new(),
    };
    let execution_id = ExecutionId::from(Uuid::new_v4());
    SessionScope { execution_id, conversation_id: None, resolved }
}

pub(super) fn new_id() -> OperationId {
    OperationId::from(Uuid::new_v4())
}

pub(super) fn question() -> InteractionRequest {
    InteractionRequest::question("question-1", "which colour?")
}

pub(super) async fn office(harness: &dyn DelegationHarness) -> Result<Office, Broken> {
    office_with(harness, LONG).await
}

/// An office whose leases live for `ttl`.
pub(super) async fn office_with(
    harness: &dyn DelegationHarness,
    ttl: Duration,
) -> Result<Office, Broken> {
    let factory = harness.stage(ttl).await?;
    Ok(Office { factory, caller: caller("ada"), scope: scope() })
}

impl Office {
    /// The same office, with another execution of the same caller.
    pub(super) fn with_another_execution(&self) -> Self {
        let (factory, caller) = (Arc::clone(&self.factory), self.caller.clone());
        Self { factory, caller, scope: scope() }
    }

    pub(super) async fn try_establish(
        &self,
        operation: &OperationContext,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        let credential = CredentialHandle::new("secret of the caller");
        let authority = RequestAuthority { caller: self.caller.clone(), credential };
        self.factory.establish_delegation(operation, &authority, &self.scope).await
    }

    pub(super) async fn establish(&self) -> Result<ExecutionDelegationLease, Broken> {
        success("establishing a lease", self.try_establish(&operation()).await)
    }

    pub(super) async fn try_create(
        &self,
        operation: &OperationContext,
        lease: &ExecutionDelegationLease,
    ) -> Result<ExecutionSessions, PortFailure> {
        self.factory.create(operation, &self.caller, lease, &self.scope).await
    }

    pub(super) async fn create(
        &self,
        lease: &ExecutionDelegationLease,
    ) -> Result<ExecutionSessions, Broken> {
        success("making ports", self.try_create(&operation(), lease).await)
    }

    pub(super) async fn try_renew(
        &self,
        operation: &OperationContext,
        lease: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        self.factory.renew_delegation(operation, &self.caller, lease).await
    }

    pub(super) async fn renew(
        &self,
        lease: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, Broken> {
        success("renewing the lease", self.try_renew(&operation(), lease).await)
    }

    pub(super) async fn try_revoke(
        &self,
        operation: &OperationContext,
        lease: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure> {
        self.factory.revoke_delegation(operation, &self.caller, lease).await
    }

    pub(super) async fn revoke(&self, lease: &ExecutionDelegationLease) -> Proof {
        success("revoking the lease", self.try_revoke(&operation(), lease).await)
    }

    /// The ports of the execution, under a fresh lease.
    pub(super) async fn opened(&self) -> Result<ExecutionSessions, Broken> {
        let lease = self.establish().await?;
        self.create(&lease).await
    }

    /// An operation of the execution.
    pub(super) fn own_operation(&self) -> OperationContext {
        OperationContext { execution_id: self.scope.execution_id.clone(), ..operation() }
    }

    /// The execution prepares a question.
    pub(super) async fn asks(
        &self,
        ports: &ExecutionSessions,
        question: InteractionRequest,
    ) -> Proof {
        let prepared = ports.interaction.prepare(&self.own_operation(), question).await;
        success("preparing a question", prepared)
    }

    /// What the execution hears; it is there already.
    pub(super) async fn hears(
        &self,
        ports: &ExecutionSessions,
        request_id: &str,
        expected: &InteractionResponse,
    ) -> Proof {
        let operation = self.own_operation();
        let waiting = ports.interaction.wait(&operation, request_id);
        let answer = success("the wait", within("the wait", PATIENCE, waiting).await?)?;
        equal("the answer", &answer, expected)
    }

    /// An input for the question of this id.
    pub(super) async fn submit(
        &self,
        id: &OperationId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        self.submit_under(&operation(), id, request_id, response).await
    }

    pub(super) async fn submit_under(
        &self,
        operation: &OperationContext,
        id: &OperationId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        let (caller, execution) = (&self.caller, &self.scope.execution_id);
        self.factory.submit_input(operation, caller, execution, id, request_id, response).await
    }
}

pub(super) fn text(text: &str) -> InteractionResponse {
    InteractionResponse::text(text)
}
