//! Decides how texts become the snapshot of a `FakeResources`.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::FakeResources;
use port_conformance::{
    Unstageable,
    resources::{Author, ResourceCapabilities, ResourceHarness, StagedResources, Texts},
};
use runtime_ports::ResourceSnapshot;

/// A `FakeResources` behind every scenario.
pub(crate) struct FakeResourceHarness;

#[async_trait]
impl ResourceHarness for FakeResourceHarness {
    fn capabilities(&self) -> ResourceCapabilities {
        ResourceCapabilities::ALL
    }

    async fn stage(&self, texts: Texts) -> Result<StagedResources, Unstageable> {
        let session = FakeResources::of(snapshot(texts));
        let author = Box::new(FakeAuthor(session.clone()));
        Ok(StagedResources { session: Arc::new(session), author })
    }
}

fn snapshot(texts: Texts) -> ResourceSnapshot {
    ResourceSnapshot::new(texts.instructions, texts.skills)
}

struct FakeAuthor(FakeResources);

#[async_trait]
impl Author for FakeAuthor {
    async fn rewrites(&mut self, texts: Texts) -> Result<(), Unstageable> {
        self.0.replace(snapshot(texts));
        Ok(())
    }
}
