//! The saboteur of the receipt store.
//!
//! Does one thing wrong when it writes, reads, or meets the dead. Knows the honest store below it
//! by its port only.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    receipts::{ReceiptCapabilities, ReceiptHarness, ReceiptWorld, SCENARIOS, StagedReceipts},
};
use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind, ReceiptStore, ReceiptTotals,
    RequestMeter, UsageReceipt, UtcDay,
};
use uuid::Uuid;

use crate::{
    harness::FakeReceiptHarness,
    matrix::{faults, prove},
};

mod reading;
mod writing;

faults! {
    /// What the saboteur does wrong.
    ReceiptFault {
        /// Takes an open turn for a settled one.
        ListsOpenTurns,
        /// Refuses what it has already.
        RefusesRepetition,
        /// Takes a second value for the first one again.
        TakesSecondOpenings,
        /// Takes a second value for a turn that was settled.
        ReopensTheSettled,
        /// Takes a second value for a request.
        TakesSecondNotes,
        /// Keeps the second value for a request, although it refused it.
        KeepsRefusedNotes,
        /// Takes the second value for the known one, although it refused it.
        BelievesRefusedNotes,
        /// Takes new requests of a turn that was settled.
        NotesTheSettled,
        /// Takes a second settling.
        TakesSecondSettlings,
        /// Opens a turn when it is settled.
        OpensOnSettling,
        /// Notes requests of turns that it does not know.
        NotesAnything,
        /// Loses notes.
        LosesNotes,
        /// Keeps one note of each turn.
        KeepsOneNote,
        /// Loses details of a receipt.
        LosesDetails,
        /// Writes although it was cancelled or late.
        WritesAnyway,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,

        /// Gives the open turns of the living.
        ShowsTheLiving,
        /// Gives no open turns.
        HidesTheDead,
        /// Gives the newest open turn first.
        ShowsTheNewestFirst,
        /// Forgets what the dead wrote.
        ForgetsTheDead,
        /// Does not see what another process writes.
        SharesNothing,

        /// Lists in the order of opening.
        ListsAsOpened,
        /// Begins a page with its cursor.
        RepeatsTheCursor,
        /// Gives one receipt too many.
        ExceedsTheLimit,
        /// Begins again when the cursor is unknown.
        ForgivesUnknownCursors,
        /// Lists twice what was written twice.
        ListsRepetitions,
        /// Loses a receipt when many are written.
        LosesTheTenth,
        /// Turns the totals around.
        ReversesTotals,
        /// Sums over users.
        MergesUsers,
        /// Takes a day for one that begins a second early.
        MistakesMidnight,
        /// Calls every sum complete.
        CompletesSums,
        /// Sums what is open.
        SumsOpenTurns,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, ReceiptFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<ReceiptFault>);

#[async_trait]
impl ReceiptHarness for SabotagedHarness {
    fn capabilities(&self) -> ReceiptCapabilities {
        FakeReceiptHarness.capabilities()
    }

    async fn stage(&self) -> Result<StagedReceipts, Unstageable> {
        let staged = FakeReceiptHarness.stage().await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let memory = Arc::default();
        let store = Arc::new(SabotagedStore { honest: staged.store, fault, memory });
        let world = Box::new(SpoiledProcesses { honest: staged.world, store: Arc::clone(&store) });
        Ok(StagedReceipts { store, world })
    }
}

/// What the saboteur remembers of what was written.
#[derive(Default)]
struct Memory {
    opened: Vec<UsageReceipt>,
    settled: Vec<UsageReceipt>,
    notes: BTreeMap<Uuid, RequestMeter>,
    refused: Vec<(Uuid, RequestMeter)>,
}

impl Memory {
    fn has_settled(&self, turn: Uuid) -> bool {
        self.settled.iter().any(|receipt| receipt.operation_id == turn)
    }
}

/// A store that does one thing wrong.
struct SabotagedStore {
    honest: Arc<dyn ReceiptStore>,
    fault: ReceiptFault,
    memory: Arc<Mutex<Memory>>,
}

impl SabotagedStore {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told<T>(&self, outcome: Result<T, PortFailure>) -> Result<T, PortFailure> {
        outcome.map_err(|mut failure| {
            match self.fault {
                ReceiptFault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
                ReceiptFault::FlattensKinds => failure.kind = PortFailureKind::Internal,
                _ => {}
            }
            failure
        })
    }
}

struct SpoiledProcesses {
    honest: Box<dyn ReceiptWorld>,
    store: Arc<SabotagedStore>,
}

impl SpoiledProcesses {
    fn wrapped(&self, honest: Arc<dyn ReceiptStore>) -> Arc<dyn ReceiptStore> {
        let memory = Arc::clone(&self.store.memory);
        Arc::new(SabotagedStore { honest, fault: self.store.fault, memory })
    }
}

#[async_trait]
impl ReceiptWorld for SpoiledProcesses {
    async fn second_process(&mut self) -> Result<Arc<dyn ReceiptStore>, Unstageable> {
        if self.store.fault == ReceiptFault::SharesNothing {
            return Ok(FakeReceiptHarness.stage().await?.store);
        }
        let second = self.honest.second_process().await?;
        Ok(self.wrapped(second))
    }

    async fn after_death(
        &mut self,
        store: Arc<dyn ReceiptStore>,
    ) -> Result<Arc<dyn ReceiptStore>, Unstageable> {
        if self.store.fault == ReceiptFault::ForgetsTheDead {
            return Ok(FakeReceiptHarness.stage().await?.store);
        }
        let next = self.honest.after_death(store).await?;
        Ok(self.wrapped(next))
    }
}

#[async_trait]
impl ReceiptStore for SabotagedStore {
    async fn open(
        &self,
        operation: &OperationContext,
        opened: UsageReceipt,
    ) -> Result<(), PortFailure> {
        let outcome = self.open_badly(operation, opened).await;
        self.told(outcome)
    }

    async fn note_request(
        &self,
        operation: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Result<(), PortFailure> {
        let outcome = self.note_badly(operation, turn, ordinal, meter).await;
        self.told(outcome)
    }

    async fn settle(
        &self,
        operation: &OperationContext,
        receipt: UsageReceipt,
    ) -> Result<(), PortFailure> {
        let outcome = self.settle_badly(operation, receipt).await;
        self.told(outcome)
    }

    async fn unsettled(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        let outcome = self.unsettled_badly(operation).await;
        self.told(outcome)
    }

    async fn list(
        &self,
        operation: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        let outcome = self.list_badly(operation, after, limit).await;
        self.told(outcome)
    }

    async fn totals(
        &self,
        operation: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure> {
        let outcome = self.totals_badly(operation, utc_day).await;
        self.told(outcome)
    }
}
