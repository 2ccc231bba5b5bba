//! What an interrupted write leaves and says.
//!
//! Knows nothing about why a store would take its time.

use std::time::Duration;

use runtime_ports::{CommitDisposition::NotCommitted, Interruption, PortFailureKind as Kind};
use tokio::time::{sleep, timeout};

use crate::{
    Proof,
    claim::{equal, failure, interrupted_operation, operation, operation_within, polled, truthful},
    context_audit::{
        AuditHarness, StagedAudit,
        sample::{Written, history, holds, holds_or_lacks, snapshot},
    },
};

/// By then, what went on in the background has ended.
pub(super) const SETTLED: Duration = Duration::from_millis(200);

async fn keeps_nothing(harness: &dyn AuditHarness, why: Interruption, kind: Kind) -> Proof {
    let mut staged = harness.stage().await?;
    let records = Written::of_each_kind("id");
    for record in &records {
        let outcome = record.tried(&staged.session, &interrupted_operation(why)).await;
        failure("the write", outcome, kind, NotCommitted)?;
        holds(&mut staged, &[]).await?;
    }
    for record in &records {
        record.write(&staged.session).await?;
    }
    holds(&mut staged, &records).await
}

pub(crate) async fn a_cancelled_write_keeps_nothing(harness: &dyn AuditHarness) -> Proof {
    keeps_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_write_keeps_nothing(harness: &dyn AuditHarness) -> Proof {
    keeps_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

/// By so many messages each context is longer than the one before it.
const STEP: usize = 6;

/// A context that is long enough to be caught half written.
pub(super) fn context(round: usize) -> Written {
    let messages = history(STEP * (round + 1));
    Written::Snapshot(snapshot(&format!("s-{round}"), messages))
}

/// Whatever became of it: it is whole or absent, and may be written again.
pub(super) async fn goes_on(staged: &mut StagedAudit, record: &Written) -> Proof {
    holds_or_lacks(staged, record).await?;
    record.write(&staged.session).await?;
    holds_or_lacks(staged, record).await.map(drop)
}

/// All of them are there, and nothing else, and nothing twice.
pub(super) async fn all_there(staged: &mut StagedAudit, records: &[Written]) -> Proof {
    sleep(SETTLED).await;
    holds(staged, records).await?;
    let stored = staged.world.kept().await?.stored_messages;
    equal("the number of stored messages", &stored, &(STEP * records.len()))
}

/// Moments from before a write begins until after most have ended.
fn moments() -> impl Iterator<Item = (usize, Duration)> {
    (0..16_u8).map(|round| (round.into(), Duration::from_micros(u64::from(round) * 150)))
}

pub(crate) async fn a_dropped_write_is_whole_or_absent(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let mut records = Vec::new();
    for (round, moment) in moments() {
        let (record, operation) = (context(round), operation());
        let write = record.tried(&staged.session, &operation);
        // Nothing says what became of a write that was dropped.
        if round.is_multiple_of(2) {
            let _ = polled(round / 2, write).await;
        } else {
            let _ = timeout(moment, write).await;
        }
        goes_on(&mut staged, &record).await?;
        records.push(record);
    }
    all_there(&mut staged, &records).await
}

pub(crate) async fn an_interrupted_write_tells_the_truth(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let (mut records, mut outcomes) = (Vec::new(), Vec::new());
    for (round, moment) in moments() {
        let record = context(round);
        let outcome = record.tried(&staged.session, &operation_within(moment)).await;
        if let Err(failure) = &outcome {
            equal("the kind of failure of a late write", &failure.kind, &Kind::Timeout)?;
        }
        truthful(&outcome, holds_or_lacks(&mut staged, &record).await?)?;
        outcomes.push(outcome);
        records.push(record);
    }
    sleep(SETTLED).await;
    for (record, outcome) in records.iter().zip(&outcomes) {
        truthful(outcome, holds_or_lacks(&mut staged, record).await?)?;
        record.write(&staged.session).await?;
    }
    all_there(&mut staged, &records).await
}
