//! An audit that completes in the background what its caller has left.
//!
//! Does nothing wrong: holds that the suite demands no more than the contract does. Says of an
//! interrupted write what it knows, which is nothing.

use std::sync::Arc;

use async_trait::async_trait;
use port_conformance::{
    Trouble, Unstageable,
    context_audit::{
        AuditCapabilities, AuditHarness, AuditWorld, KeptAudit, SCENARIOS, StagedAudit,
    },
};
use runtime_ports::{
    ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot, Interruption,
    ModelInvocationAudit, OperationContext, PortFailure, PortFailureKind,
};

use super::deaf;
use crate::{harness::FakeAuditHarness, matrix::all_hold};

type Session = Arc<dyn ContextAuditSession>;

#[test]
fn a_store_that_completes_in_the_background_holds_everything() {
    all_hold(SCENARIOS, &BackgroundHarness as &dyn AuditHarness);
}

struct BackgroundHarness;

#[async_trait]
impl AuditHarness for BackgroundHarness {
    fn capabilities(&self) -> AuditCapabilities {
        AuditCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedAudit, Unstageable> {
        let StagedAudit { session, world } = FakeAuditHarness.stage().await?;
        let world = Box::new(BackgroundWorld(world));
        Ok(StagedAudit { session: in_background(session), world })
    }
}

fn in_background(session: Session) -> Session {
    Arc::new(InBackground(session))
}

struct BackgroundWorld(Box<dyn AuditWorld>);

#[async_trait]
impl AuditWorld for BackgroundWorld {
    async fn kept(&mut self) -> Result<KeptAudit, Unstageable> {
        self.0.kept().await
    }

    async fn second_process(&mut self) -> Result<Session, Unstageable> {
        self.0.second_process().await.map(in_background)
    }

    async fn after_death(&mut self, session: Session) -> Result<Session, Unstageable> {
        self.0.after_death(session).await.map(in_background)
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        self.0.befalls(trouble).await
    }
}

struct InBackground(Session);

/// Lets `write` go on by itself, and waits for it as long as the operation lasts.
async fn left_alone(
    operation: &OperationContext,
    write: impl Future<Output = Result<(), PortFailure>> + Send + 'static,
) -> Result<(), PortFailure> {
    operation.remaining()?;
    match operation.bounded(tokio::spawn(write)).await.map_err(Interruption::in_flight)? {
        Ok(outcome) => outcome,
        Err(_) => Err(PortFailure::in_flight_unknown(
            PortFailureKind::Internal,
            "WRITE_LOST",
            "the task of the write ended early",
        )),
    }
}

#[async_trait]
impl ContextAuditSession for InBackground {
    async fn snapshot(
        &self,
        operation: &OperationContext,
        snapshot: ContextAuditSnapshot,
    ) -> Result<(), PortFailure> {
        let (session, deaf) = (Arc::clone(&self.0), deaf(operation));
        left_alone(operation, async move { session.snapshot(&deaf, snapshot).await }).await
    }

    async fn derivation(
        &self,
        operation: &OperationContext,
        derivation: ContextAuditDerivation,
    ) -> Result<(), PortFailure> {
        let (session, deaf) = (Arc::clone(&self.0), deaf(operation));
        left_alone(operation, async move { session.derivation(&deaf, derivation).await }).await
    }

    async fn model_invocation(
        &self,
        operation: &OperationContext,
        invocation: ModelInvocationAudit,
    ) -> Result<(), PortFailure> {
        let (session, deaf) = (Arc::clone(&self.0), deaf(operation));
        left_alone(operation, async move { session.model_invocation(&deaf, invocation).await })
            .await
    }
}
