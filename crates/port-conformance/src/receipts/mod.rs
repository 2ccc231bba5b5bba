//! Decides what every [`ReceiptStore`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about files, databases or locks: a process that dies is something that the
//! harness can make happen, or declares that it cannot.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::ReceiptStore;

use crate::{Declares, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// Makes the subject: an empty store.
#[async_trait]
pub trait ReceiptHarness: Send + Sync {
    /// What the store can do.
    fn capabilities(&self) -> ReceiptCapabilities;

    /// A fresh, empty store, opened by a process that lives.
    ///
    /// # Errors
    /// [`Unstageable`] when there cannot be one.
    async fn stage(&self) -> Result<StagedReceipts, Unstageable>;
}

/// A store and the processes around it.
pub struct StagedReceipts {
    /// The subject.
    pub store: Arc<dyn ReceiptStore>,
    /// Who else opens it.
    pub world: Box<dyn ReceiptWorld>,
}

/// The processes around a store.
#[async_trait]
pub trait ReceiptWorld: Send {
    /// The same receipts, opened by another process while the first one lives.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn second_process(&mut self) -> Result<Arc<dyn ReceiptStore>, Unstageable>;

    /// The process that opened `store` (and the harness) dies without a farewell, and the next
    /// one opens the same receipts.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn after_death(
        &mut self,
        store: Arc<dyn ReceiptStore>,
    ) -> Result<Arc<dyn ReceiptStore>, Unstageable>;
}

/// What a store may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptCapabilities {
    /// Several processes can open the same receipts.
    pub shared: bool,
    /// What was written outlives the process that wrote it.
    pub outlives_its_process: bool,
}

/// One field of [`ReceiptCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum ReceiptNeed {
    Shared,
    OutlivesItsProcess,
}

impl ReceiptCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self { shared: true, outlives_its_process: true };
}

impl Declares<ReceiptNeed> for dyn ReceiptHarness + '_ {
    fn declares(&self, need: ReceiptNeed) -> bool {
        let declared = self.capabilities();
        match need {
            ReceiptNeed::Shared => declared.shared,
            ReceiptNeed::OutlivesItsProcess => declared.outlives_its_process,
        }
    }
}
