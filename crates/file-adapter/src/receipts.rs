//! Decides how the receipt port is kept in one file that several processes share.
//!
//! Knows the port; leaves judgement to the ledger and durability to the log.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use runtime_ports::{
    OperationContext, PortFailure, ReceiptStore, ReceiptTotals, RequestMeter, UsageReceipt, UtcDay,
};
use uuid::Uuid;

use crate::{
    blocking::{self, Work},
    ledger::Damage,
    log::Log,
    record::Change,
};

/// Receipts as JSON lines in `receipts.jsonl`, each on disk before a call returns. Cloning shares
/// the handle; the process owns the turns that it opened until the last clone is dropped.
///
/// Opening reads the whole file once; later calls read what was added. A line that is torn or
/// damaged is skipped and listed in [`Self::damage`].
#[derive(Debug, Clone)]
pub struct FileReceiptStore(Arc<Mutex<Log>>);

impl FileReceiptStore {
    /// Opens the receipts in `folder`, which is made if it is missing. Blocks on the file system.
    ///
    /// # Errors
    /// `Unavailable` when the folder or the file cannot be used; `Invalid` when a newer release
    /// wrote it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, PortFailure> {
        Ok(Self(Arc::new(Mutex::new(Log::open(folder.as_ref())?))))
    }

    /// Lines that could not be used, as far as the file was read.
    #[must_use]
    pub fn damage(&self) -> Vec<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).damage().to_vec()
    }

    async fn record(
        &self,
        operation: &OperationContext,
        change: Change,
    ) -> Result<(), PortFailure> {
        self.with_log(operation, Work::Writes, move |log| Ok(log.record(change)?)).await
    }

    async fn with_log<T, F>(
        &self,
        operation: &OperationContext,
        work: Work,
        job: F,
    ) -> Result<T, PortFailure>
    where
        T: Send + 'static,
        F: FnOnce(&mut Log) -> Result<T, PortFailure> + Send + 'static,
    {
        let log = Arc::clone(&self.0);
        let locked = move || job(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
        blocking::run(operation, work, locked).await
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
        let read = |log: &mut Log| {
            let open: Vec<_> = log.refreshed()?.open_turns().collect();
            let dead = open.into_iter().filter(|(owner, _)| !log.is_alive(*owner));
            Ok(dead.map(|(_, receipt)| receipt).collect())
        };
        self.with_log(operation, Work::Reads, read).await
    }

    async fn list(
        &self,
        operation: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        let read = move |log: &mut Log| Ok(log.refreshed()?.page(after, limit)?);
        self.with_log(operation, Work::Reads, read).await
    }

    async fn totals(
        &self,
        operation: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure> {
        let read = move |log: &mut Log| {
            let on_day =
                |receipt: &&UsageReceipt| UtcDay::from_unix_ms(receipt.started_at_ms) == utc_day;
            Ok(ReceiptTotals::sum(log.refreshed()?.settled().filter(on_day)))
        };
        self.with_log(operation, Work::Reads, read).await
    }
}
