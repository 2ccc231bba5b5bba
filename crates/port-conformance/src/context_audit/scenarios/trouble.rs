//! What becomes of a write that meets a slow or a failing store.
//!
//! Knows nothing about what makes it slow.

use std::time::Duration;

use runtime_ports::{PortFailure, PortFailureKind as Kind};
use tokio::time::sleep;

use super::interruption::{SETTLED, all_there, context, goes_on};
use crate::{
    Broken, Proof, Trouble,
    claim::{
        SOON, cancelled_after, equal, failed, operation, operation_within, polled, refused,
        truthful, within,
    },
    context_audit::{
        AuditHarness, StagedAudit,
        sample::{Written, holds_or_lacks},
    },
};

const SLOW: Duration = Duration::from_millis(40);

/// Longer than any call may take after its end.
const STUCK: Duration = Duration::from_secs(3);

pub(crate) async fn a_slow_write_whose_caller_leaves_is_whole_or_absent(
    harness: &dyn AuditHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    let mut records = Vec::new();
    for polls in 0..8 {
        let record = context(polls);
        staged.world.befalls(Trouble::Slow(SLOW)).await?;
        // Nothing says what became of a write that was dropped.
        let _ = polled(polls, record.tried(&staged.session, &operation())).await;
        goes_on(&mut staged, &record).await?;
        records.push(record);
    }
    all_there(&mut staged, &records).await
}

/// What a slow write says whose operation ends after `moment`.
async fn interrupted(
    staged: &mut StagedAudit,
    round: usize,
    moment: Duration,
) -> Result<Result<(), PortFailure>, Broken> {
    staged.world.befalls(Trouble::Slow(SLOW)).await?;
    let record = context(round);
    if round.is_multiple_of(2) {
        return Ok(record.tried(&staged.session, &operation_within(moment)).await);
    }
    let operation = operation();
    let write = record.tried(&staged.session, &operation);
    Ok(cancelled_after(&operation, moment, write).await)
}

pub(crate) async fn a_slow_write_that_is_interrupted_tells_the_truth(
    harness: &dyn AuditHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    let mut outcomes = Vec::new();
    for (round, millis) in [5, 5, 18, 18, 25, 25, 38, 38, 80, 80].into_iter().enumerate() {
        let outcome = interrupted(&mut staged, round, Duration::from_millis(millis)).await?;
        truthful(&outcome, holds_or_lacks(&mut staged, &context(round)).await?)?;
        outcomes.push(outcome);
    }
    sleep(SETTLED).await;
    for (round, outcome) in outcomes.iter().enumerate() {
        truthful(outcome, holds_or_lacks(&mut staged, &context(round)).await?)?;
    }
    Ok(())
}

pub(crate) async fn a_slow_write_ends_with_its_operation(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let (moment, record) = (Duration::from_millis(40), context(0));
    staged.world.befalls(Trouble::Slow(STUCK)).await?;
    let late = operation_within(moment);
    let write = record.tried(&staged.session, &late);
    let outcome = within("a write past its deadline", moment + SOON, write).await?;
    refused("a write past its deadline", outcome, Kind::Timeout)?;

    let mut staged = harness.stage().await?;
    staged.world.befalls(Trouble::Slow(STUCK)).await?;
    let cancelled = operation();
    let write = cancelled_after(&cancelled, moment, record.tried(&staged.session, &cancelled));
    let outcome = within("a cancelled write", moment + SOON, write).await?;
    refused("a cancelled write", outcome, Kind::Canceled).map(drop)
}

/// Whether the record is there when its write is tried and this befalls it; then it is repeated.
async fn befallen(staged: &mut StagedAudit, record: &Written, trouble: Trouble) -> Proof {
    let is_refused = trouble == Trouble::Refused;
    staged.world.befalls(trouble).await?;
    let outcome = record.tried(&staged.session, &operation()).await;
    if is_refused {
        failed("a write that the store refused", outcome.clone())?;
    }
    let is_kept = holds_or_lacks(staged, record).await?;
    equal("whether it is kept", &is_kept, &!is_refused)?;
    truthful(&outcome, is_kept)?;
    goes_on(staged, record).await
}

pub(crate) async fn a_failing_write_tells_the_truth(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let records: Vec<_> = (0..3).map(context).collect();
    for record in &records {
        befallen(&mut staged, record, Trouble::Refused).await?;
    }
    all_there(&mut staged, &records).await
}

pub(crate) async fn a_write_whose_reply_is_lost_tells_the_truth(
    harness: &dyn AuditHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    let records: Vec<_> = (0..3).map(context).collect();
    for record in &records {
        befallen(&mut staged, record, Trouble::ReplyLost).await?;
    }
    all_there(&mut staged, &records).await
}
