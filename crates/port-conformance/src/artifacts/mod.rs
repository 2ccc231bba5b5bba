//! Decides what every [`ArtifactStore`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about files or buckets: another process, and one that dies, are things that the
//! harness can make happen, or declares that it cannot.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::ArtifactStore;

use crate::{Declares, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// Makes the subject: an empty store.
#[async_trait]
pub trait ArtifactHarness: Send + Sync {
    /// What the store can do.
    fn capabilities(&self) -> ArtifactCapabilities;

    /// A fresh, empty store.
    ///
    /// # Errors
    /// [`Unstageable`] when there cannot be one.
    async fn stage(&self) -> Result<StagedArtifacts, Unstageable>;
}

/// A store and the processes around it.
pub struct StagedArtifacts {
    /// The subject.
    pub store: Arc<dyn ArtifactStore>,
    /// Who else opens it.
    pub world: Box<dyn ArtifactWorld>,
}

/// The processes around a store.
#[async_trait]
pub trait ArtifactWorld: Send {
    /// The same artifacts, opened by another process while the first one lives.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn second_process(&mut self) -> Result<Arc<dyn ArtifactStore>, Unstageable>;

    /// The process that opened `store` dies without a farewell, and the next one opens the same
    /// artifacts.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn after_death(
        &mut self,
        store: Arc<dyn ArtifactStore>,
    ) -> Result<Arc<dyn ArtifactStore>, Unstageable>;
}

/// What a store may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactCapabilities {
    /// Several processes can open the same artifacts.
    pub shared: bool,
    /// What was put outlives the process that put it.
    pub outlives_its_process: bool,
}

/// One field of [`ArtifactCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum ArtifactNeed {
    Shared,
    OutlivesItsProcess,
}

impl ArtifactCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self { shared: true, outlives_its_process: true };
}

impl Declares<ArtifactNeed> for dyn ArtifactHarness + '_ {
    fn declares(&self, need: ArtifactNeed) -> bool {
        let declared = self.capabilities();
        match need {
            ArtifactNeed::Shared => declared.shared,
            ArtifactNeed::OutlivesItsProcess => declared.outlives_its_process,
        }
    }
}
