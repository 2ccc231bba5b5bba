//! A trace that completes in the background what its caller has left.
//!
//! Does nothing wrong: holds that the suite demands no more than the contract does. Says of an
//! interrupted append what it knows, which is nothing.

use std::sync::Arc;

use async_trait::async_trait;
use port_conformance::{
    Trouble, Unstageable,
    trace::{SCENARIOS, StagedTrace, TraceCapabilities, TraceHarness, TracePorts, TraceWorld},
};
use runtime_ports::{Interruption, OperationContext, PortFailure, PortFailureKind, TraceSession};
use serde_json::Value;

use super::deaf;
use crate::{harness::FakeTraceHarness, matrix::all_hold};

#[test]
fn a_store_that_completes_in_the_background_holds_everything() {
    all_hold(SCENARIOS, &BackgroundHarness as &dyn TraceHarness);
}

struct BackgroundHarness;

#[async_trait]
impl TraceHarness for BackgroundHarness {
    fn capabilities(&self) -> TraceCapabilities {
        TraceCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedTrace, Unstageable> {
        let StagedTrace { ports, world } = FakeTraceHarness.stage().await?;
        let world = Box::new(BackgroundWorld(world));
        Ok(StagedTrace { ports: in_background(ports), world })
    }
}

fn in_background(ports: TracePorts) -> TracePorts {
    TracePorts { session: Arc::new(InBackground(ports.session)), reader: ports.reader }
}

struct BackgroundWorld(Box<dyn TraceWorld>);

#[async_trait]
impl TraceWorld for BackgroundWorld {
    async fn second_process(&mut self) -> Result<TracePorts, Unstageable> {
        self.0.second_process().await.map(in_background)
    }

    async fn after_death(&mut self, ports: TracePorts) -> Result<TracePorts, Unstageable> {
        self.0.after_death(ports).await.map(in_background)
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        self.0.befalls(trouble).await
    }
}

struct InBackground(Arc<dyn TraceSession>);

#[async_trait]
impl TraceSession for InBackground {
    async fn append(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let (session, deaf) = (Arc::clone(&self.0), deaf(operation));
        let event_type = event_type.to_owned();
        let append = tokio::spawn(async move { session.append(&deaf, &event_type, payload).await });
        match operation.bounded(append).await.map_err(Interruption::in_flight)? {
            Ok(outcome) => outcome,
            Err(_) => Err(PortFailure::in_flight_unknown(
                PortFailureKind::Internal,
                "APPEND_LOST",
                "the task of the append ended early",
            )),
        }
    }
}
