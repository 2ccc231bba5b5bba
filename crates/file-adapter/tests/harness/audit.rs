//! Decides how processes share and leave a folder of an audit, and what can befall it.
//!
//! Knows nothing about what the scenarios expect.

use std::{fs::OpenOptions, sync::Arc, thread, time::Duration};

use async_trait::async_trait;
use file_adapter::{AuditContents, FileContextAudit};
use port_conformance::{
    Trouble, Unstageable,
    context_audit::{AuditCapabilities, AuditHarness, AuditWorld, KeptAudit, StagedAudit},
};
use runtime_ports::{ContextAuditSession, OperationContext};
use runtime_types::{ExecutionId, OperationId};
use tempfile::TempDir;

use super::private_folder;

/// A `FileContextAudit` in a folder of its own behind every scenario.
pub(crate) struct FileAuditHarness;

#[async_trait]
impl AuditHarness for FileAuditHarness {
    fn capabilities(&self) -> AuditCapabilities {
        AuditCapabilities { can_refuse: false, can_lose_replies: false, ..AuditCapabilities::ALL }
    }

    async fn stage(&self) -> Result<StagedAudit, Unstageable> {
        let mut world = Folder(private_folder()?);
        Ok(StagedAudit { session: world.second_process().await?, world: Box::new(world) })
    }
}

struct Folder(TempDir);

impl Folder {
    fn opened(&self) -> Result<FileContextAudit, Unstageable> {
        let opened = FileContextAudit::open(self.0.path());
        opened.map_err(|failure| Unstageable::because(failure.to_string()))
    }
}

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("reader"), ExecutionId::new("reading"));
    let (id, run) = (id.expect("a valid id"), run.expect("a valid id"));
    OperationContext::root(id, run, Duration::from_secs(60))
}

#[async_trait]
impl AuditWorld for Folder {
    /// As somebody sees it who opens the folder now.
    async fn kept(&mut self) -> Result<KeptAudit, Unstageable> {
        let contents = self.opened()?.contents(&operation()).await;
        let contents = contents.map_err(|failure| Unstageable::because(failure.to_string()))?;
        let AuditContents { snapshots, derivations, invocations, stored_messages } = contents;
        Ok(KeptAudit { snapshots, derivations, invocations, stored_messages })
    }

    async fn second_process(&mut self) -> Result<Arc<dyn ContextAuditSession>, Unstageable> {
        Ok(Arc::new(self.opened()?))
    }

    /// The store keeps nothing in memory that the next one could miss.
    async fn after_death(
        &mut self,
        session: Arc<dyn ContextAuditSession>,
    ) -> Result<Arc<dyn ContextAuditSession>, Unstageable> {
        drop(session);
        self.second_process().await
    }

    /// Somebody else holds the lock for a while.
    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        let Trouble::Slow(time) = trouble else {
            return Err(Unstageable::because("a disk cannot be made to fail from here"));
        };
        let file = OpenOptions::new().read(true).open(self.0.path().join("audit.jsonl"));
        let file = file.map_err(|error| Unstageable::because(error.to_string()))?;
        file.lock().map_err(|error| Unstageable::because(error.to_string()))?;
        // Ends by itself, with the lock.
        thread::spawn(move || {
            thread::sleep(time);
            drop(file);
        });
        Ok(())
    }
}
