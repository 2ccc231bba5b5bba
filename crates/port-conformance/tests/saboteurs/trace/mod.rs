//! The saboteur of the trace.
//!
//! Does one thing wrong when it appends, reads, or opens again. Knows the honest ports below it by
//! their traits only.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Trouble, Unstageable,
    trace::{SCENARIOS, StagedTrace, TraceCapabilities, TraceHarness, TracePorts, TraceWorld},
};
use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind, TraceReader, TraceRecord,
    TraceSession,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeTraceHarness,
    matrix::{faults, prove},
};

mod appending;
mod background;
mod payload;
mod reading;

faults! {
    /// What the saboteur does wrong.
    TraceFault {
        /// Has an event of its own where there is none.
        InventsABeginning,
        /// Numbers events from 0.
        CountsFromZero,
        /// Leaves a number out.
        SkipsTheTenth,
        /// Gives the newest event first.
        TurnsAround,
        /// Gives events in the order of their numbers as texts.
        SortsAsText,
        /// Writes types in lower case.
        LowersTypes,
        /// Takes white space away from types.
        TrimsTypes,
        /// Gives payloads as texts.
        WritesPayloads,
        /// Takes a text for what it may say.
        ReadsTexts,
        /// Leaves out what is null.
        DropsNulls,
        /// Takes all numbers for fractions.
        RoundsNumbers,
        /// Loses what is beyond 64 KiB of a text.
        CutsLargePayloads,
        /// Loses what is deeper than 32 levels.
        FlattensDeepPayloads,
        /// Keeps equal events once.
        DropsEqualEvents,
        /// Keeps one event of an operation.
        KeepsOnePerOperation,

        /// Keeps all runs as one.
        MixesRuns,
        /// Takes names of runs for equal that differ in case.
        FoldsNames,
        /// Numbers the events of all runs together.
        NumbersAllRuns,
        /// Reads the run of whoever asks.
        ReadsTheOwnRun,
        /// Gives the event before a page, too.
        IncludesTheCursor,
        /// Takes a large number for a negative one.
        WrapsTheCursor,
        /// Gives all that there is.
        IgnoresLimits,
        /// Gives all events when none are asked for.
        TakesZeroForAll,
        /// Gives the newest events of a page that is too long.
        GivesTheNewest,

        /// Forgets what the dead appended.
        ForgetsTheDead,
        /// Numbers from 1 again after a death.
        RestartsNumbers,
        /// Does not see what another process appends.
        SharesNothing,

        /// Appends although it was cancelled or late.
        AppendsAnyway,
        /// Reads although it was cancelled or late.
        ReadsAnyway,
        /// Keeps an event before its payload is there.
        KeepsHalves,
        /// Takes a number before it keeps anything.
        TakesNumbersEarly,
        /// Says "not committed" of what it has appended.
        DeniesItsAppends,
        /// Says "committed" of what it may not have appended.
        ClaimsItsAppends,
        /// Appends in the background what it called not committed.
        AppendsLater,
        /// Reads nothing more after a read was dropped.
        BreaksWhenDropped,
        /// Refuses an append during another one.
        AppendsOneAtATime,
        /// Gives the same number to events that begin at once.
        RacesForNumbers,
        /// Lets events be seen before those that come before them.
        ShowsTheLaterFirst,

        /// Goes on to its end, whatever becomes of its operation.
        WaitsItOut,
        /// Says that all went well.
        SwallowsFailures,
        /// Takes every failure for one without effect.
        DeniesTheUnknown,
        /// Appends once more when it failed.
        RepeatsSilently,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, TraceFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<TraceFault>);

#[async_trait]
impl TraceHarness for SabotagedHarness {
    fn capabilities(&self) -> TraceCapabilities {
        FakeTraceHarness.capabilities()
    }

    async fn stage(&self) -> Result<StagedTrace, Unstageable> {
        let staged = FakeTraceHarness.stage().await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let world = Box::new(SpoiledWorld { honest: staged.world, fault });
        Ok(StagedTrace { ports: sabotaged(staged.ports, fault), world })
    }
}

fn sabotaged(honest: TracePorts, fault: TraceFault) -> TracePorts {
    let store = Arc::new(SabotagedTrace { honest, fault, memory: Mutex::default() });
    TracePorts { session: store.clone(), reader: store }
}

/// What the saboteur remembers of what was appended.
#[derive(Default)]
struct Memory {
    appended: Vec<(ExecutionId, OperationId, Value)>,
    /// The half of an event that was kept early.
    half: Option<(ExecutionId, TraceRecord)>,
    /// The number that each event was given, for runs that are written at once.
    given: Vec<u64>,
    under_way: u64,
    reading: bool,
}

/// Both ports over one store, with one thing wrong.
struct SabotagedTrace {
    honest: TracePorts,
    fault: TraceFault,
    memory: Mutex<Memory>,
}

impl SabotagedTrace {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run under which the saboteur keeps the events of `run`.
    fn filed(&self, run: &ExecutionId) -> ExecutionId {
        let name = match self.fault {
            TraceFault::MixesRuns => "run".to_owned(),
            TraceFault::FoldsNames => run.to_string().to_lowercase(),
            _ => return run.clone(),
        };
        ExecutionId::new(name).unwrap_or_else(|_| run.clone())
    }

    fn told<T>(&self, outcome: Result<T, PortFailure>) -> Result<T, PortFailure> {
        outcome.map_err(|mut failure| {
            match self.fault {
                TraceFault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
                TraceFault::FlattensKinds => failure.kind = PortFailureKind::Internal,
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
    PortFailure::rejected(PortFailureKind::Conflict, "REFUSED", "the saboteur does not like it")
}

struct SpoiledWorld {
    honest: Box<dyn TraceWorld>,
    fault: TraceFault,
}

#[async_trait]
impl TraceWorld for SpoiledWorld {
    async fn second_process(&mut self) -> Result<TracePorts, Unstageable> {
        if self.fault == TraceFault::SharesNothing {
            return Ok(FakeTraceHarness.stage().await?.ports);
        }
        Ok(sabotaged(self.honest.second_process().await?, self.fault))
    }

    async fn after_death(&mut self, ports: TracePorts) -> Result<TracePorts, Unstageable> {
        if self.fault == TraceFault::ForgetsTheDead {
            return Ok(FakeTraceHarness.stage().await?.ports);
        }
        Ok(sabotaged(self.honest.after_death(ports).await?, self.fault))
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        self.honest.befalls(trouble).await
    }
}

#[async_trait]
impl TraceSession for SabotagedTrace {
    async fn append(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        let outcome = self.append_badly(operation, event_type, payload).await;
        self.told(outcome)
    }
}

#[async_trait]
impl TraceReader for SabotagedTrace {
    async fn read(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        after_sequence: u64,
        limit: usize,
    ) -> Result<Vec<TraceRecord>, PortFailure> {
        let outcome = self.read_badly(operation, run, after_sequence, limit).await;
        self.told(outcome)
    }
}
