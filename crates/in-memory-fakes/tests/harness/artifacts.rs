//! Decides how processes share and leave a `FakeArtifacts`.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::FakeArtifacts;
use port_conformance::{
    Unstageable,
    artifacts::{ArtifactCapabilities, ArtifactHarness, ArtifactWorld, StagedArtifacts},
};
use runtime_ports::ArtifactStore;

/// A `FakeArtifacts` behind every scenario.
pub(crate) struct FakeArtifactHarness;

#[async_trait]
impl ArtifactHarness for FakeArtifactHarness {
    fn capabilities(&self) -> ArtifactCapabilities {
        ArtifactCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedArtifacts, Unstageable> {
        let store = FakeArtifacts::new();
        Ok(StagedArtifacts { store: Arc::new(store.clone()), world: Box::new(FakeMemory(store)) })
    }
}

/// The memory of the fake is its durable part: each process gets another handle on it.
struct FakeMemory(FakeArtifacts);

#[async_trait]
impl ArtifactWorld for FakeMemory {
    async fn second_process(&mut self) -> Result<Arc<dyn ArtifactStore>, Unstageable> {
        Ok(Arc::new(self.0.clone()))
    }

    async fn after_death(
        &mut self,
        store: Arc<dyn ArtifactStore>,
    ) -> Result<Arc<dyn ArtifactStore>, Unstageable> {
        drop(store);
        self.second_process().await
    }
}
