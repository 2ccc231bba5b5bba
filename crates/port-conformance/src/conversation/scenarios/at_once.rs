//! What calls at once leave and see.
//!
//! Knows nothing about locks.

use std::{ops::Range, sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    Broken, Proof,
    claim::{PATIENCE, claim, equal, success},
    conversation::{
        ConversationHarness,
        sample::{Session, append, append_as, entries, entry, new_id},
    },
};

const WRITERS: usize = 16;

/// Appends these entries, each from a task of its own.
fn writers(session: &Session, numbers: Range<usize>) -> JoinSet<Proof> {
    let mut writers = JoinSet::new();
    for number in numbers {
        let session = Arc::clone(session);
        writers.spawn(async move { append(&session, &entry(number)).await });
    }
    writers
}

async fn all_succeed(calls: JoinSet<Proof>) -> Proof {
    for outcome in calls.join_all().await {
        success("one of many at once", outcome)?;
    }
    Ok(())
}

async fn sorted(session: &Session) -> Result<Vec<usize>, Broken> {
    let mut numbers = entries(session).await?;
    numbers.sort_unstable();
    Ok(numbers)
}

pub(crate) async fn appends_at_once_are_all_kept(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    all_succeed(writers(&staged.session, 0..WRITERS)).await?;
    equal("the appends", &sorted(&staged.session).await?, &(0..WRITERS).collect())
}

pub(crate) async fn one_operation_at_once_appends_once(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let id = new_id();
    let mut calls = JoinSet::new();
    for _ in 0..WRITERS {
        let (session, id) = (Arc::clone(&staged.session), id.clone());
        calls.spawn(async move {
            append_as(&session, &id, &entry(0)).await?;
            equal("the appends", &entries(&session).await?, &vec![0])
        });
    }
    all_succeed(calls).await?;
    equal("the appends", &entries(&staged.session).await?, &vec![0])
}

/// Loads until all entries are there: what was seen once stays.
async fn watch(session: &Session) -> Proof {
    let (mut seen, give_up) = (0, Instant::now() + PATIENCE);
    while seen < WRITERS {
        let now = entries(session).await?.len();
        claim(now >= seen, || format!("{seen} appends were seen, and then {now}"))?;
        claim(Instant::now() < give_up, || format!("only {now} appends can be loaded"))?;
        seen = now;
        sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

pub(crate) async fn a_load_sees_whole_appends(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let mut calls = writers(&staged.session, 0..WRITERS);
    for _ in 0..4 {
        let session = Arc::clone(&staged.session);
        calls.spawn(async move { watch(&session).await });
    }
    all_succeed(calls).await
}
