//! The saboteur of resources.
//!
//! Does one thing wrong with what it loads, or when. Knows the honest session below it by its port
//! only.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    resources::{ResourceCapabilities, ResourceHarness, SCENARIOS, StagedResources, Texts},
};
use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind, ResourceSession,
    ResourceSnapshot,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeResourceHarness,
    matrix::{faults, prove},
};

mod telling;

faults! {
    /// What the saboteur does wrong.
    ResourceFault {
        /// Has an instruction of its own where there is none.
        InventsInstructions,
        /// Takes white space away.
        TrimsTexts,
        /// Loses what is beyond 64 KiB.
        CutsLongTexts,
        /// Gives instructions in the order of the alphabet.
        SortsInstructions,
        /// Gives one instruction made of all.
        JoinsInstructions,
        /// Gives no skills.
        HidesSkills,
        /// Gives ten skills.
        HasRoomForTen,
        /// Loses what is beyond 64 KiB of a skill.
        CutsLongSkills,
        /// Gives skills in lower case.
        LowersNames,

        /// Writes digests in upper case.
        ShoutsDigests,
        /// Gives another digest each time.
        SaltsDigests,
        /// Leaves skills out of the digest.
        DigestsNoSkills,
        /// Leaves the texts out of the digest.
        DigestsNoTexts,
        /// Digests the texts without where they end.
        DigestsNoEnds,

        /// Loads once and gives that for ever.
        LoadsOnce,
        /// Gives what it once gave, too.
        KeepsTheRemoved,
        /// Loads although it was cancelled or late.
        LoadsAnyway,
        /// Loads nothing more after a load was dropped.
        BreaksWhenDropped,
        /// Fails while another load is under way.
        LoadsOneAtATime,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, ResourceFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<ResourceFault>);

#[async_trait]
impl ResourceHarness for SabotagedHarness {
    fn capabilities(&self) -> ResourceCapabilities {
        FakeResourceHarness.capabilities()
    }

    async fn stage(&self, texts: Texts) -> Result<StagedResources, Unstageable> {
        let staged = FakeResourceHarness.stage(texts).await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let session = Arc::new(SabotagedSession {
            honest: staged.session,
            fault,
            first: Mutex::default(),
            loads: AtomicU32::new(0),
            busy: AtomicBool::new(false),
        });
        Ok(StagedResources { session, author: staged.author })
    }
}

/// A session that does one thing wrong.
struct SabotagedSession {
    honest: Arc<dyn ResourceSession>,
    fault: ResourceFault,
    first: Mutex<Option<ResourceSnapshot>>,
    loads: AtomicU32,
    busy: AtomicBool,
}

impl SabotagedSession {
    async fn load_badly(
        &self,
        operation: &OperationContext,
    ) -> Result<ResourceSnapshot, PortFailure> {
        match self.fault {
            ResourceFault::LoadsAnyway => self.honest.load(&deaf(operation)).await,
            ResourceFault::LoadsOneAtATime => {
                self.enter()?;
                sleep(Duration::from_millis(1)).await;
                let loaded = self.honest.load(operation).await;
                self.busy.store(false, SeqCst);
                loaded
            }
            // Whoever is dropped here never leaves.
            ResourceFault::BreaksWhenDropped => {
                self.enter()?;
                sleep(Duration::from_millis(1)).await;
                self.busy.store(false, SeqCst);
                self.honest.load(operation).await
            }
            _ => self.honest.load(operation).await,
        }
    }

    fn enter(&self) -> Result<(), PortFailure> {
        if self.busy.swap(true, SeqCst) {
            let message = "another load is under way";
            return Err(PortFailure::rejected(PortFailureKind::Conflict, "BUSY", message));
        }
        Ok(())
    }

    /// What was loaded first.
    fn first(&self, loaded: &ResourceSnapshot) -> ResourceSnapshot {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| loaded.clone()).clone()
    }
}

/// The same operation, deaf to its end.
fn deaf(operation: &OperationContext) -> OperationContext {
    let cancellation = CancellationToken::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    OperationContext { cancellation, deadline, ..operation.clone() }
}

#[async_trait]
impl ResourceSession for SabotagedSession {
    async fn load(&self, operation: &OperationContext) -> Result<ResourceSnapshot, PortFailure> {
        let loaded = self.load_badly(operation).await.map_err(|mut failure| {
            match self.fault {
                ResourceFault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
                ResourceFault::FlattensKinds => failure.kind = PortFailureKind::Internal,
                _ => {}
            }
            failure
        })?;
        let first = self.first(&loaded);
        Ok(telling::spoiled(self.fault, loaded, &first, self.loads.fetch_add(1, SeqCst)))
    }
}
