//! What an interrupted call leaves and says, and what puts at once leave.
//!
//! Knows nothing about locks.

use std::{sync::Arc, time::Duration};

use runtime_ports::{CommitDisposition, Digest, Interruption, PortFailureKind as Kind};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    Proof,
    artifacts::{
        ArtifactHarness,
        sample::{bytes, holds, holds_or_lacks, put, read, same},
    },
    claim::{
        cancelled_after, equal, failure, interrupted_operation, operation, operation_within,
        success, truthful,
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

async fn keeps_nothing(harness: &dyn ArtifactHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage().await?;
    let unwanted = bytes(1_000, 0);
    let outcome = staged.store.put(&interrupted_operation(why), &unwanted).await;
    failure("the put", outcome, kind, NOT_COMMITTED)?;
    let digest = Digest::of(&unwanted);
    let part = read(&staged.store, &digest, 0..1).await;
    failure("reading what was not put", part, Kind::NotFound, NOT_COMMITTED)?;
    equal("the digest", &put(&staged.store, &unwanted).await?, &digest)?;
    holds(&staged.store, &digest, &unwanted).await
}

pub(crate) async fn a_cancelled_put_keeps_nothing(harness: &dyn ArtifactHarness) -> Proof {
    keeps_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_put_keeps_nothing(harness: &dyn ArtifactHarness) -> Proof {
    keeps_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

async fn gives_nothing(harness: &dyn ArtifactHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage().await?;
    let kept = bytes(1_000, 0);
    let digest = put(&staged.store, &kept).await?;
    let part = staged.store.read(&interrupted_operation(why), &digest, 0..10).await;
    failure("the read", part, kind, NOT_COMMITTED)?;
    holds(&staged.store, &digest, &kept).await
}

pub(crate) async fn a_cancelled_read_gives_nothing(harness: &dyn ArtifactHarness) -> Proof {
    gives_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_read_gives_nothing(harness: &dyn ArtifactHarness) -> Proof {
    gives_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

/// Moments from before a put begins until after most have ended.
fn moments() -> impl Iterator<Item = (u8, Duration)> {
    (0..16_u8).map(|round| (round, Duration::from_micros(u64::from(round) * 150)))
}

pub(crate) async fn a_dropped_put_is_whole_or_absent(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    for (round, moment) in moments() {
        let (operation, artifact) = (operation(), bytes(60_000, round));
        // Nothing says what became of a put that was dropped.
        let _ = timeout(moment, staged.store.put(&operation, &artifact)).await;
        let digest = Digest::of(&artifact);
        holds_or_lacks(&staged.store, &digest, &artifact).await?;
        equal("the digest", &put(&staged.store, &artifact).await?, &digest)?;
        holds(&staged.store, &digest, &artifact).await?;
    }
    Ok(())
}

pub(crate) async fn an_interrupted_put_tells_the_truth(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    for (round, moment) in moments() {
        let artifact = bytes(60_000, round);
        let outcome = staged.store.put(&operation_within(moment), &artifact).await;
        let digest = Digest::of(&artifact);
        let is_kept = holds_or_lacks(&staged.store, &digest, &artifact).await?;
        if let Err(failure) = &outcome {
            equal("the kind of failure of a late put", &failure.kind, &Kind::Timeout)?;
        }
        truthful(&outcome, is_kept)?;
        equal("the digest", &put(&staged.store, &artifact).await?, &digest)?;
    }
    Ok(())
}

pub(crate) async fn a_put_that_is_cancelled_tells_the_truth(
    harness: &dyn ArtifactHarness,
) -> Proof {
    let staged = harness.stage().await?;
    for (round, moment) in moments() {
        let (operation, artifact) = (operation(), bytes(60_000, round));
        let putting = staged.store.put(&operation, &artifact);
        let outcome = cancelled_after(&operation, moment, putting).await;
        let digest = Digest::of(&artifact);
        let is_kept = holds_or_lacks(&staged.store, &digest, &artifact).await?;
        if let Err(failure) = &outcome {
            equal("the kind of failure of a cancelled put", &failure.kind, &Kind::Canceled)?;
        }
        truthful(&outcome, is_kept)?;
        equal("the digest", &put(&staged.store, &artifact).await?, &digest)?;
    }
    Ok(())
}

pub(crate) async fn a_dropped_read_changes_nothing(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let kept = bytes(60_000, 0);
    let digest = put(&staged.store, &kept).await?;
    for (_, moment) in moments() {
        let operation = operation();
        // Nothing says what became of a read that was dropped.
        let _ = timeout(moment, staged.store.read(&operation, &digest, 0..u64::MAX)).await;
        holds(&staged.store, &digest, &kept).await?;
    }
    Ok(())
}

pub(crate) async fn reads_at_once_agree(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let kept = bytes(160_000, 0);
    let digest = put(&staged.store, &kept).await?;
    let mut reads = JoinSet::new();
    for number in 0..16_u64 {
        let store = Arc::clone(&staged.store);
        let range = number * 10_000..(number + 1) * 10_000;
        reads.spawn(async move { (number, read(&store, &digest, range).await) });
    }
    for (number, part) in reads.join_all().await {
        let part = success("one of sixteen reads", part)?;
        let start = usize::try_from(number).unwrap_or_default() * 10_000;
        same("its part", &part, &kept[start..start + 10_000])?;
    }
    Ok(())
}

pub(crate) async fn puts_of_the_same_bytes_agree(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let artifact = bytes(100_000, 0);
    let mut puts = JoinSet::new();
    for _ in 0..16 {
        let (store, artifact) = (Arc::clone(&staged.store), artifact.clone());
        puts.spawn(async move {
            let digest = put(&store, &artifact).await?;
            holds(&store, &digest, &artifact).await.map(|()| digest)
        });
    }
    for digest in puts.join_all().await {
        let digest = success("one of sixteen puts", digest)?;
        equal("the digest", &digest, &Digest::of(&artifact))?;
    }
    holds(&staged.store, &Digest::of(&artifact), &artifact).await
}

pub(crate) async fn puts_at_once_are_all_kept(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let mut puts = JoinSet::new();
    for seed in 0..16 {
        let store = Arc::clone(&staged.store);
        puts.spawn(async move { put(&store, &bytes(50_000, seed)).await });
    }
    for digest in puts.join_all().await {
        success("one of sixteen puts", digest)?;
    }
    for seed in 0..16 {
        let artifact = bytes(50_000, seed);
        holds(&staged.store, &Digest::of(&artifact), &artifact).await?;
    }
    Ok(())
}
