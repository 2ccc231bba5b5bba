//! Decides how the receipt port is kept in one file that several processes share.
//!
//! Knows the port; leaves judgement to the ledger and durability to the log.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    OperationContext, PortFailure, ReceiptStore, ReceiptTotals, RequestMeter, UsageReceipt, UtcDay,
};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::{
    damage::{Damage, DamageList},
    failure::FileError,
    gate::{self, Gate},
    log::Log,
    record::Change,
};

/// Receipts as JSON lines in `receipts.jsonl`, each on disk before a call returns.
///
/// A store owns the turns that it opened until the last clone of its handle is dropped or its
/// process ends; opening the folder again makes another owner. The folder has to be on a file
/// system of this machine, since ownership rests on file locks.
///
/// # Rights
/// What is made is for the owner alone (`0700`, `0600`). A folder or file that belongs to somebody
/// else, that others can write to, or that is a link in place of a file is refused.
///
/// # Damage
/// A line that is torn or damaged is skipped and listed in [`Self::damage`]; all others count.
/// After a failed write or sync, other than for want of room, a handle records no more: drop it
/// and open the folder again. A repeated write then tells whether the first is there.
///
/// # Cost
/// Opening reads the whole file once, about 5 microseconds a record; receipts stay in memory.
/// Later calls read what was added. A write costs one sync of the disk; `list` costs its page,
/// `totals` a pass over all settled receipts.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use file_adapter::FileReceiptStore;
/// use runtime_ports::{OperationContext, ReceiptStore};
/// use runtime_types::{ExecutionId, OperationId};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let store = FileReceiptStore::open(folder.path().join("receipts"))?;
/// let (id, run) = (OperationId::new("start")?, ExecutionId::new("run-1")?);
/// let operation = OperationContext::root(id, run, Duration::from_secs(5));
/// for left_behind in store.unsettled(&operation).await? {
///     store.settle(&operation, left_behind).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FileReceiptStore {
    log: Arc<Mutex<Log>>,
    damage: DamageList,
}

impl FileReceiptStore {
    /// Opens the receipts in `folder`, which is made if it is missing. Blocks on the file system,
    /// and up to ten seconds on another process that has the receipts locked.
    ///
    /// # Errors
    /// `Unavailable` when the folder or the file cannot be used; `Forbidden` when others can write
    /// to them; `Invalid` when a newer release wrote them.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, PortFailure> {
        let damage = DamageList::default();
        let log = Log::open(folder.as_ref(), damage.clone())?;
        Ok(Self { log: Arc::new(Mutex::new(log)), damage })
    }

    /// Lines that could not be used, as far as the file was read; the first thousand of them.
    #[must_use]
    pub fn damage(&self) -> Vec<Damage> {
        self.damage.all()
    }

    /// Makes every sync fail, or succeed again.
    #[cfg(test)]
    pub(crate) async fn set_sync_fails(&self, fails: bool) {
        self.log.lock().await.lines.sync_fails = fails;
    }

    /// Whether others would find its owner alive.
    #[cfg(test)]
    pub(crate) fn owns_its_lock(&self) -> bool {
        self.log.try_lock().expect("nobody else uses it").owner.is_seen_alive()
    }

    async fn record(
        &self,
        operation: &OperationContext,
        change: Change,
    ) -> Result<(), PortFailure> {
        self.with_log(operation, move |log, gate| log.record(gate, change)).await
    }

    /// Calls take turns; one that is interrupted while it waits for its turn has done nothing.
    async fn with_log<T, F>(&self, operation: &OperationContext, job: F) -> Result<T, PortFailure>
    where
        T: Send + 'static,
        F: FnOnce(&mut Log, &Gate) -> Result<T, FileError> + Send + 'static,
    {
        let turn = operation.bounded(Arc::clone(&self.log).lock_owned()).await;
        let mut log = turn.map_err(runtime_ports::Interruption::before_sending)?;
        gate::run(operation, move |gate| job(&mut log, gate)).await
    }
}

#[async_trait]
impl ReceiptStore for FileReceiptStore {
    async fn open(
        &self,
        operation: &OperationContext,
        opened: UsageReceipt,
    ) -> Result<(), PortFailure> {
        self.record(operation, Change::Opened { receipt: opened }).await
    }

    async fn note_request(
        &self,
        operation: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Result<(), PortFailure> {
        self.record(operation, Change::Noted { turn, ordinal, meter }).await
    }

    async fn settle(
        &self,
        operation: &OperationContext,
        receipt: UsageReceipt,
    ) -> Result<(), PortFailure> {
        self.record(operation, Change::Settled { receipt }).await
    }

    async fn unsettled(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        self.with_log(operation, |log, gate| {
            log.read(gate, |ledger, owners| {
                let dead = ledger.open_turns().filter(|(owner, _)| !owners.is_alive(*owner));
                dead.map(|(_, receipt)| receipt).collect()
            })
        })
        .await
    }

    async fn list(
        &self,
        operation: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        self.with_log(operation, move |log, gate| {
            log.read(gate, |ledger, _| ledger.page(after, limit))?
        })
        .await
    }

    async fn totals(
        &self,
        operation: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure> {
        let on_day =
            move |receipt: &&UsageReceipt| UtcDay::from_unix_ms(receipt.started_at_ms) == utc_day;
        self.with_log(operation, move |log, gate| {
            log.read(gate, |ledger, _| ReceiptTotals::sum(ledger.settled().filter(on_day)))
        })
        .await
    }
}
