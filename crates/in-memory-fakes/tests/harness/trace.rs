//! Decides how processes share and leave a `FakeTrace`, and what befalls it.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeTrace, FaultPlan, TraceCall};
use port_conformance::{
    Trouble, Unstageable,
    trace::{StagedTrace, TraceCapabilities, TraceHarness, TracePorts, TraceWorld},
};

use super::trouble;

/// A `FakeTrace` behind every scenario.
pub(crate) struct FakeTraceHarness;

#[async_trait]
impl TraceHarness for FakeTraceHarness {
    fn capabilities(&self) -> TraceCapabilities {
        TraceCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedTrace, Unstageable> {
        let plan = FaultPlan::new();
        plan.unchecked();
        let fake = FakeTrace::new().with_faults(&plan);
        Ok(StagedTrace { ports: ports(&fake), world: Box::new(FakeMemory { fake, plan }) })
    }
}

fn ports(fake: &FakeTrace) -> TracePorts {
    TracePorts { session: Arc::new(fake.clone()), reader: Arc::new(fake.clone()) }
}

/// The memory of the fake is its durable part: each process gets another handle on it.
struct FakeMemory {
    fake: FakeTrace,
    plan: FaultPlan,
}

#[async_trait]
impl TraceWorld for FakeMemory {
    async fn second_process(&mut self) -> Result<TracePorts, Unstageable> {
        Ok(ports(&self.fake))
    }

    async fn after_death(&mut self, dead: TracePorts) -> Result<TracePorts, Unstageable> {
        drop(dead);
        self.second_process().await
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        let is_append = |call: &TraceCall| matches!(call, TraceCall::Append(..));
        let appends = self.fake.calls().iter().filter(|call| is_append(call)).count();
        trouble::plan(&self.plan, "trace.append", appends, trouble);
        Ok(())
    }
}
