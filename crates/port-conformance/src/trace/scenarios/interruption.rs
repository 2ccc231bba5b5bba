//! What an interrupted call leaves and says.
//!
//! Knows nothing about why a store would take its time.

use std::time::Duration;

use runtime_ports::{CommitDisposition, Interruption, OperationContext, PortFailureKind as Kind};
use runtime_types::ExecutionId;
use tokio::time::{sleep, timeout};

use crate::{
    Proof,
    claim::{claim, equal, failure, interrupted_operation, operation_within, polled, truthful},
    trace::{
        TraceHarness, TracePorts,
        sample::{append_number, new_run, numbers, of, tried},
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

/// By then, what went on in the background has ended.
pub(super) const SETTLED: Duration = Duration::from_millis(200);

async fn keeps_nothing(harness: &dyn TraceHarness, why: Interruption, kind: Kind) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    for round in 0..3 {
        let operation =
            OperationContext { execution_id: run.clone(), ..interrupted_operation(why) };
        let outcome = tried(&staged.ports, &operation, 100).await;
        failure("the append", outcome, kind, NOT_COMMITTED)?;
        equal("the events", &numbers(&staged.ports, &run).await?, &(0..round).collect())?;
        append_number(&staged.ports, &run, round).await?;
    }
    equal("the events", &numbers(&staged.ports, &run).await?, &(0..3).collect())
}

pub(crate) async fn a_cancelled_append_keeps_nothing(harness: &dyn TraceHarness) -> Proof {
    keeps_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_append_keeps_nothing(harness: &dyn TraceHarness) -> Proof {
    keeps_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

async fn gives_nothing(harness: &dyn TraceHarness, why: Interruption, kind: Kind) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    append_number(&staged.ports, &run, 0).await?;
    for (after, limit) in [(0, 0), (0, 1), (1, 1)] {
        let operation = interrupted_operation(why);
        let outcome = staged.ports.reader.read(&operation, &run, after, limit).await;
        failure("the read", outcome, kind, NOT_COMMITTED)?;
    }
    equal("the events", &numbers(&staged.ports, &run).await?, &vec![0])
}

pub(crate) async fn a_cancelled_read_gives_nothing(harness: &dyn TraceHarness) -> Proof {
    gives_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_read_gives_nothing(harness: &dyn TraceHarness) -> Proof {
    gives_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

/// Events 100 and more may be there, whole and once; the first ones are, and one more follows
/// without a gap.
pub(super) async fn goes_on(ports: &TracePorts, run: &ExecutionId, number: usize) -> Proof {
    // Reading says by itself that there is neither a gap nor a part of an event.
    numbers(ports, run).await?;
    append_number(ports, run, number).await?;
    let certain: Vec<_> =
        numbers(ports, run).await?.into_iter().filter(|seen| *seen < 100).collect();
    equal("the events of callers that stayed", &certain, &(0..=number).collect())
}

/// Moments from before an append begins until after most have ended.
fn moments() -> impl Iterator<Item = (usize, Duration)> {
    (0..16_u8).map(|round| (round.into(), Duration::from_micros(u64::from(round) * 150)))
}

pub(crate) async fn a_dropped_append_is_whole_or_absent(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    for (round, moment) in moments() {
        let operation = of(&run);
        let append = tried(&staged.ports, &operation, 100 + round);
        // Nothing says what became of an append that was dropped.
        if round.is_multiple_of(2) {
            let _ = polled(round / 2, append).await;
        } else {
            let _ = timeout(moment, append).await;
        }
        goes_on(&staged.ports, &run, round).await?;
    }
    sleep(SETTLED).await;
    goes_on(&staged.ports, &run, 16).await
}

pub(crate) async fn an_interrupted_append_tells_the_truth(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    let mut outcomes = Vec::new();
    for (round, moment) in moments() {
        let operation = OperationContext { execution_id: run.clone(), ..operation_within(moment) };
        let outcome = tried(&staged.ports, &operation, round).await;
        if let Err(failure) = &outcome {
            equal("the kind of failure of a late append", &failure.kind, &Kind::Timeout)?;
        }
        truthful(&outcome, numbers(&staged.ports, &run).await?.contains(&round))?;
        outcomes.push(outcome);
    }
    sleep(SETTLED).await;
    let kept = numbers(&staged.ports, &run).await?;
    for (round, outcome) in outcomes.iter().enumerate() {
        truthful(outcome, kept.contains(&round))?;
    }
    append_number(&staged.ports, &run, 16).await?;
    claim(numbers(&staged.ports, &run).await?.ends_with(&[16]), || "an event is missing".into())
}

pub(crate) async fn a_dropped_read_changes_nothing(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    for (round, moment) in moments() {
        append_number(&staged.ports, &run, round).await?;
        let operation = of(&run);
        let read = staged.ports.reader.read(&operation, &run, 0, 100);
        // Nothing says what became of a read that was dropped.
        if round.is_multiple_of(2) {
            let _ = polled(round / 2, read).await;
        } else {
            let _ = timeout(moment, read).await;
        }
        equal("the events", &numbers(&staged.ports, &run).await?, &(0..=round).collect())?;
    }
    Ok(())
}
