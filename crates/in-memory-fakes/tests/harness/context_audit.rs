//! Decides how processes share, read and leave a `FakeContextAudit`, and what befalls it.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{AuditCall, FakeContextAudit, FaultPlan};
use port_conformance::{
    Trouble, Unstageable,
    context_audit::{AuditCapabilities, AuditHarness, AuditWorld, KeptAudit, StagedAudit},
};
use runtime_ports::ContextAuditSession;

use super::trouble;

/// A `FakeContextAudit` behind every scenario.
pub(crate) struct FakeAuditHarness;

#[async_trait]
impl AuditHarness for FakeAuditHarness {
    fn capabilities(&self) -> AuditCapabilities {
        AuditCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedAudit, Unstageable> {
        let plan = FaultPlan::new();
        plan.unchecked();
        let fake = FakeContextAudit::new().with_faults(&plan);
        let session = Arc::new(fake.clone());
        Ok(StagedAudit { session, world: Box::new(FakeMemory { fake, plan }) })
    }
}

/// The memory of the fake is its durable part: each process gets another handle on it.
struct FakeMemory {
    fake: FakeContextAudit,
    plan: FaultPlan,
}

#[async_trait]
impl AuditWorld for FakeMemory {
    async fn kept(&mut self) -> Result<KeptAudit, Unstageable> {
        Ok(KeptAudit {
            snapshots: self.fake.snapshots(),
            derivations: self.fake.derivations(),
            invocations: self.fake.invocations(),
            stored_messages: self.fake.message_count(),
        })
    }

    async fn second_process(&mut self) -> Result<Arc<dyn ContextAuditSession>, Unstageable> {
        Ok(Arc::new(self.fake.clone()))
    }

    async fn after_death(
        &mut self,
        dead: Arc<dyn ContextAuditSession>,
    ) -> Result<Arc<dyn ContextAuditSession>, Unstageable> {
        drop(dead);
        self.second_process().await
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        let is_snapshot = |call: &AuditCall| matches!(call, AuditCall::Snapshot(_));
        let snapshots = self.fake.calls().iter().filter(|call| is_snapshot(call)).count();
        trouble::plan(&self.plan, "context_audit.snapshot", snapshots, trouble);
        Ok(())
    }
}
