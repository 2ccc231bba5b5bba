//! The saboteur of the artifact store.
//!
//! Does one thing wrong when it puts, reads, or opens again. Knows the honest store below it by its
//! port only.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    artifacts::{ArtifactCapabilities, ArtifactHarness, ArtifactWorld, SCENARIOS, StagedArtifacts},
};
use runtime_ports::{
    ArtifactDigest, ArtifactStore, CommitDisposition, OperationContext, PortFailure,
    PortFailureKind,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeArtifactHarness,
    matrix::{faults, prove},
};

mod putting;
mod reading;

faults! {
    /// What the saboteur does wrong.
    ArtifactFault {
        /// Names an artifact by more than its bytes.
        NamesOtherwise,
        /// Takes bytes for text.
        TakesBytesForText,
        /// Refuses to keep nothing.
        RefusesEmptyBytes,
        /// Gives half a mebibyte.
        CutsLargeBytes,
        /// Refuses what it has already.
        RefusesRepetition,
        /// Gives the first artifact to everybody.
        MixesArtifacts,
        /// Keeps nothing of the tenth artifact.
        LosesTheTenth,
        /// Refuses the same bytes while they are being put.
        PutsOneAtATime,
        /// Leaves half of an artifact behind when it is dropped.
        KeepsHalves,
        /// Says "not committed" of what it has put.
        DeniesItsPuts,
        /// Puts although it was cancelled or late.
        PutsAnyway,

        /// Gives the byte at the end of a range, too.
        IncludesTheEnd,
        /// Refuses a range that goes past the end.
        RefusesPastTheEnd,
        /// Refuses a range that begins beyond the end.
        RefusesBeyondTheEnd,
        /// Turns a range around that ends before it begins.
        TurnsRangesAround,
        /// Takes an empty range for everything.
        TakesEmptyForAll,
        /// Gives nothing for what it does not know.
        InventsTheUnknown,
        /// Does not look whether there is anything when nothing is asked for.
        AnswersEmptyUnseen,
        /// Gives parts from the start of their block.
        AlignsParts,
        /// Reads although it was cancelled or late.
        ReadsAnyway,
        /// Reads nothing more after a read was dropped.
        BreaksWhenDropped,
        /// Refuses a read during another one.
        ReadsOneAtATime,

        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,
        /// Forgets what the dead put.
        ForgetsTheDead,
        /// Does not see what another process puts.
        SharesNothing,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, ArtifactFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<ArtifactFault>);

#[async_trait]
impl ArtifactHarness for SabotagedHarness {
    fn capabilities(&self) -> ArtifactCapabilities {
        FakeArtifactHarness.capabilities()
    }

    async fn stage(&self) -> Result<StagedArtifacts, Unstageable> {
        let staged = FakeArtifactHarness.stage().await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let store = sabotaged(staged.store, fault);
        Ok(StagedArtifacts { store, world: Box::new(SpoiledWorld { honest: staged.world, fault }) })
    }
}

fn sabotaged(honest: Arc<dyn ArtifactStore>, fault: ArtifactFault) -> Arc<dyn ArtifactStore> {
    Arc::new(SabotagedStore { honest, fault, memory: Mutex::default() })
}

/// What the saboteur remembers of what was put.
#[derive(Default)]
struct Memory {
    put: Vec<ArtifactDigest>,
    under_way: Vec<ArtifactDigest>,
    halves: BTreeMap<ArtifactDigest, Vec<u8>>,
    reading: bool,
}

/// A store that does one thing wrong.
struct SabotagedStore {
    honest: Arc<dyn ArtifactStore>,
    fault: ArtifactFault,
    memory: Mutex<Memory>,
}

impl SabotagedStore {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told<T>(&self, outcome: Result<T, PortFailure>) -> Result<T, PortFailure> {
        outcome.map_err(|mut failure| {
            match self.fault {
                ArtifactFault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
                ArtifactFault::FlattensKinds => failure.kind = PortFailureKind::Internal,
                _ => {}
            }
            failure
        })
    }
}

/// The same operation, deaf to its end.
fn deaf(operation: &OperationContext) -> OperationContext {
    let cancellation = CancellationToken::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    OperationContext { cancellation, deadline, ..operation.clone() }
}

fn refused() -> PortFailure {
    PortFailure::rejected(PortFailureKind::Invalid, "REFUSED", "the saboteur does not like it")
}

struct SpoiledWorld {
    honest: Box<dyn ArtifactWorld>,
    fault: ArtifactFault,
}

#[async_trait]
impl ArtifactWorld for SpoiledWorld {
    async fn second_process(&mut self) -> Result<Arc<dyn ArtifactStore>, Unstageable> {
        if self.fault == ArtifactFault::SharesNothing {
            return Ok(FakeArtifactHarness.stage().await?.store);
        }
        Ok(sabotaged(self.honest.second_process().await?, self.fault))
    }

    async fn after_death(
        &mut self,
        store: Arc<dyn ArtifactStore>,
    ) -> Result<Arc<dyn ArtifactStore>, Unstageable> {
        if self.fault == ArtifactFault::ForgetsTheDead {
            return Ok(FakeArtifactHarness.stage().await?.store);
        }
        Ok(sabotaged(self.honest.after_death(store).await?, self.fault))
    }
}

#[async_trait]
impl ArtifactStore for SabotagedStore {
    async fn put(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
    ) -> Result<ArtifactDigest, PortFailure> {
        let outcome = self.put_badly(operation, bytes).await;
        self.told(outcome)
    }

    async fn read(
        &self,
        operation: &OperationContext,
        digest: &ArtifactDigest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, PortFailure> {
        let outcome = self.read_badly(operation, digest, range).await;
        self.told(outcome)
    }
}
