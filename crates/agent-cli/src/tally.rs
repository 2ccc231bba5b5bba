//! Decides what is counted of the receipts that are written: those of this process.
//!
//! Knows the port of receipts, which it wraps. Invariant: a request is counted once, when its
//! receipt is on disk; one whose receipt was lost makes every total a lower bound.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use runtime_ports::{
    OperationContext, PortFailure, ReceiptStore, ReceiptTotals, RequestMeter, UsageReceipt, UtcDay,
};
use uuid::Uuid;

use crate::{show::Show, told::Told, totals::RunTotals};

/// A store of receipts, and a count of what went through it.
pub(crate) struct Tally<S> {
    store: S,
    counted: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    open: BTreeSet<Uuid>,
    fresh: Vec<UsageReceipt>,
    totals: RunTotals,
    names: Vec<Uuid>,
    losses: Vec<String>,
}

impl<S> Tally<S> {
    pub(crate) fn over(store: S) -> Arc<Self> {
        Arc::new(Self { store, counted: Mutex::default() })
    }

    /// Tells of the receipts that were written since the last call.
    pub(crate) fn tell_fresh(&self, show: &dyn Show) {
        let fresh = std::mem::take(&mut self.counted().fresh);
        fresh.iter().for_each(|receipt| show.show(Told::Receipt(receipt)));
    }

    /// What all of them come to, and their names.
    pub(crate) fn sum(&self) -> (RunTotals, Vec<Uuid>) {
        let counted = self.counted();
        let mut totals = counted.totals;
        if !counted.open.is_empty() {
            totals.miss_a_part();
        }
        (totals, counted.names.clone())
    }

    /// What they say was lost, in their order.
    pub(crate) fn losses(&self) -> Vec<String> {
        self.counted().losses.clone()
    }

    /// Counts from nothing again; a request that is open counts when it is settled.
    pub(crate) fn start_over(&self) {
        let mut counted = self.counted();
        (counted.totals, counted.names) = (RunTotals::default(), Vec::new());
        counted.losses.clear();
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn settle(&mut self, receipt: UsageReceipt) {
        // What a dead process left open is none of this one's cost.
        if self.open.remove(&receipt.operation_id) {
            self.totals.add(&receipt);
            self.names.push(receipt.operation_id);
            self.losses.extend(receipt.losses.iter().cloned());
            self.fresh.push(receipt);
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: ReceiptStore> ReceiptStore for Tally<S> {
    async fn open(
        &self,
        operation: &OperationContext,
        opened: UsageReceipt,
    ) -> Result<(), PortFailure> {
        let turn = opened.operation_id;
        self.store.open(operation, opened).await?;
        self.counted().open.insert(turn);
        Ok(())
    }

    async fn note_request(
        &self,
        operation: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Result<(), PortFailure> {
        self.store.note_request(operation, turn, ordinal, meter).await
    }

    async fn settle(
        &self,
        operation: &OperationContext,
        receipt: UsageReceipt,
    ) -> Result<(), PortFailure> {
        self.store.settle(operation, receipt.clone()).await?;
        self.counted().settle(receipt);
        Ok(())
    }

    async fn unsettled(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        self.store.unsettled(operation).await
    }

    async fn list(
        &self,
        operation: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        self.store.list(operation, after, limit).await
    }

    async fn totals(
        &self,
        operation: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure> {
        self.store.totals(operation, utc_day).await
    }
}

#[cfg(test)]
mod tests;
