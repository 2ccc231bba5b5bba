//! Decides how processes share and leave a folder of artifacts.
//!
//! Knows nothing about what the scenarios expect.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use file_adapter::FileArtifactStore;
use port_conformance::{
    Unstageable,
    artifacts::{ArtifactCapabilities, ArtifactHarness, ArtifactWorld, StagedArtifacts},
};
use runtime_ports::ArtifactStore;
use tempfile::TempDir;

use super::private_folder;

/// A `FileArtifactStore` in a folder of its own behind every scenario.
pub(crate) struct FileArtifactHarness;

#[async_trait]
impl ArtifactHarness for FileArtifactHarness {
    fn capabilities(&self) -> ArtifactCapabilities {
        ArtifactCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedArtifacts, Unstageable> {
        let mut world = Shelf(private_folder()?);
        Ok(StagedArtifacts { store: world.second_process().await?, world: Box::new(world) })
    }
}

struct Shelf(TempDir);

impl Shelf {
    /// Not there yet: the first put makes it.
    fn folder(&self) -> PathBuf {
        self.0.path().join("artifacts")
    }
}

#[async_trait]
impl ArtifactWorld for Shelf {
    async fn second_process(&mut self) -> Result<Arc<dyn ArtifactStore>, Unstageable> {
        Ok(Arc::new(FileArtifactStore::new(self.folder())))
    }

    /// The store keeps nothing in memory that the next one could miss.
    async fn after_death(
        &mut self,
        store: Arc<dyn ArtifactStore>,
    ) -> Result<Arc<dyn ArtifactStore>, Unstageable> {
        drop(store);
        self.second_process().await
    }
}
