//! Decides what a `FakeSessionFactory` hands out.
//!
//! Knows nothing about what the scenarios expect.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use in_memory_fakes::{FakeInteraction, FakeSessionFactory, FakeSessions};
use port_conformance::{
    Unstageable,
    delegation::{DelegationCapabilities, DelegationHarness},
};
use runtime_ports::ExecutionSessionFactory;

/// A `FakeSessionFactory` behind every scenario.
pub(crate) struct FakeDelegationHarness;

#[async_trait]
impl DelegationHarness for FakeDelegationHarness {
    fn capabilities(&self) -> DelegationCapabilities {
        DelegationCapabilities::ALL
    }

    async fn stage(&self, ttl: Duration) -> Result<Arc<dyn ExecutionSessionFactory>, Unstageable> {
        let interaction = FakeInteraction::manual();
        let fakes = FakeSessions { interaction, ..FakeSessions::default() };
        Ok(Arc::new(FakeSessionFactory::new(fakes).with_ttl(ttl)))
    }
}
