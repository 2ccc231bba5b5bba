//! The saboteur of the context audit.
//!
//! Does one thing wrong when it writes, is read, or opens again. Knows the honest session below it
//! by its port only.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Trouble, Unstageable,
    context_audit::{
        AuditCapabilities, AuditHarness, AuditWorld, KeptAudit, SCENARIOS, StagedAudit,
    },
};
use runtime_ports::{
    CommitDisposition, ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot,
    ModelInvocationAudit, OperationContext, PortFailure, PortFailureKind,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeAuditHarness,
    matrix::{faults, prove},
};

mod background;
mod reading;
mod spoiling;
mod writing;

faults! {
    /// What the saboteur does wrong.
    AuditFault {
        /// Holds something before anything was written.
        InventsARecord,
        /// Takes every context for an original.
        ForgetsStages,
        /// Leaves the segments out.
        DropsSegments,
        /// Sorts the tools by name.
        SortsTools,
        /// Leaves messages without content out.
        DropsEmptyMessages,
        /// Keeps counts of four bytes.
        CutsLargeCounts,
        /// Writes 0 for what is unknown.
        TakesUnknownForZero,
        /// Refuses a context without messages.
        RefusesEmptyContexts,
        /// Keeps the first five hundred messages of a context.
        CutsLongContexts,
        /// Stores the messages of each context anew.
        StoresMessagesAgain,
        /// Stores messages anew when they stand at another place.
        StoresMessagesByPlace,
        /// Keeps a message of a context once.
        DropsRepeatedMessages,
        /// Takes contexts that end alike for one.
        FilesByLastMessage,
        /// Takes ids for equal that differ in case.
        FoldsIds,
        /// Takes white space away from ids.
        TrimsIds,

        /// Refuses what it has already.
        RefusesRepetition,
        /// Says Ok to another value, and keeps the first.
        SwallowsConflicts,
        /// Compares nothing but the request digest of a snapshot.
        ComparesDigestsOnly,
        /// Says Ok to another derivation.
        IgnoresOtherDerivations,
        /// Keeps no end.
        ForgetsEnds,
        /// Refuses an end.
        RefusesEnds,
        /// Lets an end follow an end.
        TakesASecondEnd,
        /// Lets anything end.
        EndsSomethingElse,
        /// Refuses an end without a beginning.
        NeedsABeginning,
        /// Refuses an id that another kind has.
        SharesIds,
        /// Looks for the snapshots that are named.
        ResolvesNames,

        /// Forgets what the dead kept.
        ForgetsTheDead,
        /// Does not see what another process keeps.
        SharesNothing,

        /// Writes although it was cancelled or late.
        WritesAnyway,
        /// Shows half a context while it writes.
        KeepsHalves,
        /// Says "not committed" of what it has kept.
        DeniesItsWrites,
        /// Keeps in the background what it called not committed.
        WritesLater,
        /// Refuses a write during another one.
        WritesOneAtATime,
        /// Loses a write that another one overtakes.
        LosesOneOfTwo,

        /// Goes on to its end, whatever becomes of its operation.
        WaitsItOut,
        /// Says that all went well.
        SwallowsFailures,
        /// Takes every failure for one without effect.
        DeniesTheUnknown,
        /// Says "committed" of what it may not have kept.
        ClaimsItsWrites,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, AuditFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<AuditFault>);

#[async_trait]
impl AuditHarness for SabotagedHarness {
    fn capabilities(&self) -> AuditCapabilities {
        FakeAuditHarness.capabilities()
    }

    async fn stage(&self) -> Result<StagedAudit, Unstageable> {
        let staged = FakeAuditHarness.stage().await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let memory = Arc::new(Mutex::default());
        let session = sabotaged(staged.session, fault, &memory);
        let world = Box::new(SpoiledWorld { honest: staged.world, fault, memory });
        Ok(StagedAudit { session, world })
    }
}

type Shared = Arc<Mutex<Memory>>;

fn sabotaged(
    honest: Arc<dyn ContextAuditSession>,
    fault: AuditFault,
    memory: &Shared,
) -> Arc<dyn ContextAuditSession> {
    Arc::new(SabotagedAudit { honest, fault, memory: Arc::clone(memory) })
}

/// A record of any kind.
#[derive(Debug, Clone, PartialEq)]
enum Record {
    Snapshot(ContextAuditSnapshot),
    Derivation(ContextAuditDerivation),
    Invocation(ModelInvocationAudit),
}

/// What the saboteur remembers of what was written.
#[derive(Default)]
struct Memory {
    written: Vec<Record>,
    /// What is shown of a context before it is whole.
    half: Option<ContextAuditSnapshot>,
    under_way: usize,
}

/// A session that does one thing wrong.
struct SabotagedAudit {
    honest: Arc<dyn ContextAuditSession>,
    fault: AuditFault,
    memory: Shared,
}

fn locked(memory: &Shared) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SabotagedAudit {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        locked(&self.memory)
    }

    async fn told(&self, operation: &OperationContext, record: Record) -> Result<(), PortFailure> {
        let Err(mut failure) = self.write_badly(operation, record).await else { return Ok(()) };
        match self.fault {
            AuditFault::SwallowsFailures => return Ok(()),
            AuditFault::SwallowsConflicts if failure.kind == PortFailureKind::Conflict => {
                return Ok(());
            }
            AuditFault::DeniesTheUnknown => failure.commit = CommitDisposition::NotCommitted,
            AuditFault::ClaimsItsWrites => failure.commit = CommitDisposition::Committed,
            AuditFault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
            AuditFault::FlattensKinds => failure.kind = PortFailureKind::Internal,
            _ => {}
        }
        Err(failure)
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
    honest: Box<dyn AuditWorld>,
    fault: AuditFault,
    memory: Shared,
}

#[async_trait]
impl AuditWorld for SpoiledWorld {
    async fn kept(&mut self) -> Result<KeptAudit, Unstageable> {
        let kept = self.honest.kept().await?;
        Ok(reading::spoiled(self.fault, &locked(&self.memory), kept))
    }

    async fn second_process(&mut self) -> Result<Arc<dyn ContextAuditSession>, Unstageable> {
        if self.fault == AuditFault::SharesNothing {
            return Ok(FakeAuditHarness.stage().await?.session);
        }
        Ok(sabotaged(self.honest.second_process().await?, self.fault, &self.memory))
    }

    async fn after_death(
        &mut self,
        session: Arc<dyn ContextAuditSession>,
    ) -> Result<Arc<dyn ContextAuditSession>, Unstageable> {
        if self.fault == AuditFault::ForgetsTheDead {
            let fresh = FakeAuditHarness.stage().await?;
            self.honest = fresh.world;
            return Ok(fresh.session);
        }
        Ok(sabotaged(self.honest.after_death(session).await?, self.fault, &self.memory))
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        self.honest.befalls(trouble).await
    }
}

#[async_trait]
impl ContextAuditSession for SabotagedAudit {
    async fn snapshot(
        &self,
        operation: &OperationContext,
        snapshot: ContextAuditSnapshot,
    ) -> Result<(), PortFailure> {
        self.told(operation, Record::Snapshot(snapshot)).await
    }

    async fn derivation(
        &self,
        operation: &OperationContext,
        derivation: ContextAuditDerivation,
    ) -> Result<(), PortFailure> {
        self.told(operation, Record::Derivation(derivation)).await
    }

    async fn model_invocation(
        &self,
        operation: &OperationContext,
        invocation: ModelInvocationAudit,
    ) -> Result<(), PortFailure> {
        self.told(operation, Record::Invocation(invocation)).await
    }
}
