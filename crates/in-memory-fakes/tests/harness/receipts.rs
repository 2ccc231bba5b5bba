//! Decides how processes share and leave a `FakeReceiptStore`.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::FakeReceiptStore;
use port_conformance::{
    Unstageable,
    receipts::{ReceiptCapabilities, ReceiptHarness, ReceiptWorld, StagedReceipts},
};
use runtime_ports::ReceiptStore;

/// A `FakeReceiptStore` behind every scenario.
pub(crate) struct FakeReceiptHarness;

#[async_trait]
impl ReceiptHarness for FakeReceiptHarness {
    fn capabilities(&self) -> ReceiptCapabilities {
        ReceiptCapabilities::ALL
    }

    async fn stage(&self) -> Result<StagedReceipts, Unstageable> {
        let store = FakeReceiptStore::new();
        Ok(StagedReceipts { store: Arc::new(store.clone()), world: Box::new(FakeProcesses(store)) })
    }
}

struct FakeProcesses(FakeReceiptStore);

#[async_trait]
impl ReceiptWorld for FakeProcesses {
    async fn second_process(&mut self) -> Result<Arc<dyn ReceiptStore>, Unstageable> {
        Ok(Arc::new(self.0.another_owner()))
    }

    async fn after_death(
        &mut self,
        store: Arc<dyn ReceiptStore>,
    ) -> Result<Arc<dyn ReceiptStore>, Unstageable> {
        drop(store);
        self.0 = self.0.reopen_after_crash();
        Ok(Arc::new(self.0.clone()))
    }
}
