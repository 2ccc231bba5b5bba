//! Decides how processes share and leave a folder of receipts.
//!
//! Knows nothing about what the scenarios expect.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    sync::Arc,
};

use async_trait::async_trait;
use file_adapter::FileReceiptStore;
use port_conformance::{
    Unstageable,
    receipts::{ReceiptCapabilities, ReceiptHarness, ReceiptWorld, StagedReceipts},
};
use runtime_ports::ReceiptStore;
use tempfile::TempDir;

use super::private_folder;

/// A `FileReceiptStore` in a folder of its own behind every scenario.
pub(crate) struct FileReceiptHarness;

#[async_trait]
impl ReceiptHarness for FileReceiptHarness {
    fn capabilities(&self) -> ReceiptCapabilities {
        ReceiptCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedReceipts, Unstageable> {
        let mut world = Folder(private_folder()?);
        Ok(StagedReceipts { store: world.second_process().await?, world: Box::new(world) })
    }
}

struct Folder(TempDir);

impl Folder {
    fn lock_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.path().join("owners")).expect("a store was opened");
        entries.map(|entry| entry.expect("the folder can be listed").path()).collect()
    }
}

#[async_trait]
impl ReceiptWorld for Folder {
    /// Each opening is an owner of its own, just like another process.
    async fn second_process(&mut self) -> Result<Arc<dyn ReceiptStore>, Unstageable> {
        let store = FileReceiptStore::open(self.0.path());
        Ok(Arc::new(store.map_err(|failure| Unstageable::because(failure.to_string()))?))
    }

    /// Whoever dies without a farewell leaves its lock file behind, unlocked.
    async fn after_death(
        &mut self,
        store: Arc<dyn ReceiptStore>,
    ) -> Result<Arc<dyn ReceiptStore>, Unstageable> {
        let left_behind = self.lock_files();
        drop(store);
        for file in left_behind {
            let mut options = OpenOptions::new();
            options.write(true).create(true).mode(0o600);
            options.open(file).expect("the folder can be written");
        }
        self.second_process().await
    }
}
