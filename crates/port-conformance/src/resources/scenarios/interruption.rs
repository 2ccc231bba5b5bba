//! What an interrupted load says and leaves, and what loads at once give.
//!
//! Knows nothing about where the texts come from.

use std::{sync::Arc, time::Duration};

use runtime_ports::{CommitDisposition, Interruption, PortFailureKind as Kind};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    Proof,
    claim::{equal, failure, interrupted_operation, operation, success},
    resources::{
        ResourceHarness, Texts,
        sample::{load, snapshot, texts},
    },
};

fn content() -> Texts {
    texts(&["be brief"], &[])
}

async fn gives_nothing(harness: &dyn ResourceHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage(content()).await?;
    let outcome = staged.session.load(&interrupted_operation(why)).await;
    failure("the load", outcome, kind, CommitDisposition::NotCommitted)?;
    equal("the snapshot", &load(&staged.session).await?, &snapshot(&content()))
}

pub(crate) async fn a_cancelled_load_gives_nothing(harness: &dyn ResourceHarness) -> Proof {
    gives_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_load_gives_nothing(harness: &dyn ResourceHarness) -> Proof {
    gives_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

pub(crate) async fn a_dropped_load_leaves_nothing(harness: &dyn ResourceHarness) -> Proof {
    let staged = harness.stage(content()).await?;
    for round in 0..12_u64 {
        let operation = operation();
        let load_once = staged.session.load(&operation);
        // Nothing says what became of a load that was dropped.
        let _ = timeout(Duration::from_micros(round * 40), load_once).await;
        equal("the next snapshot", &load(&staged.session).await?, &snapshot(&content()))?;
    }
    Ok(())
}

pub(crate) async fn loads_at_once_agree(harness: &dyn ResourceHarness) -> Proof {
    let staged = harness.stage(content()).await?;
    let mut loads = JoinSet::new();
    for _ in 0..16 {
        let session = Arc::clone(&staged.session);
        loads.spawn(async move { load(&session).await });
    }
    for loaded in loads.join_all().await {
        let loaded = success("one of sixteen loads", loaded)?;
        equal("the snapshot", &loaded, &snapshot(&content()))?;
    }
    Ok(())
}
