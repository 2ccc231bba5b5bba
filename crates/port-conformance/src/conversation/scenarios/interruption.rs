//! What an interrupted call leaves and says.
//!
//! Knows nothing about why a store would take its time.

use std::time::Duration;

use runtime_ports::{CommitDisposition, Interruption, OperationContext, PortFailureKind as Kind};
use tokio::time::{sleep, timeout};

use crate::{
    Proof,
    claim::{claim, equal, failure, interrupted_operation, operation_within, polled, truthful},
    conversation::{
        ConversationHarness,
        sample::{
            Session, all_said, append, append_as, entries, entry, holds, named, new_id, newest,
        },
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

/// By then, what went on in the background has ended.
pub(super) const SETTLED: Duration = Duration::from_millis(200);

async fn adds_nothing(harness: &dyn ConversationHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage().await?;
    let (before, unwanted, other) = (all_said(&["a"]), all_said(&["b"]), all_said(&["c", "d"]));
    append(&staged.session, &before).await?;
    let interrupted = interrupted_operation(why);
    let outcome = staged.session.append(&interrupted, &unwanted).await;
    failure("the append", outcome, kind, NOT_COMMITTED)?;
    holds(&staged.session, &before).await?;
    append_as(&staged.session, &interrupted.id, &other).await?;
    let again = staged.session.append(&interrupted, &other).await;
    failure("the interrupted repetition", again, kind, NOT_COMMITTED)?;
    holds(&staged.session, &[before, other].concat()).await
}

pub(crate) async fn a_cancelled_append_adds_nothing(harness: &dyn ConversationHarness) -> Proof {
    adds_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_append_adds_nothing(harness: &dyn ConversationHarness) -> Proof {
    adds_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

async fn gives_nothing(harness: &dyn ConversationHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage().await?;
    append(&staged.session, &entry(0)).await?;
    for limit in [0, 1, 100] {
        let outcome = staged.session.load_recent(&interrupted_operation(why), limit).await;
        failure("the load", outcome, kind, NOT_COMMITTED)?;
    }
    holds(&staged.session, &entry(0)).await
}

pub(crate) async fn a_cancelled_load_gives_nothing(harness: &dyn ConversationHarness) -> Proof {
    gives_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_load_gives_nothing(harness: &dyn ConversationHarness) -> Proof {
    gives_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

/// Appends entry `number` again under its operation: it is there once, after all before it.
pub(super) async fn is_there_once(
    session: &Session,
    operation: &OperationContext,
    number: usize,
) -> Proof {
    let seen = entries(session).await?;
    claim(seen == (0..seen.len()).collect::<Vec<_>>(), || format!("the appends are {seen:?}"))?;
    append_as(session, &operation.id, &entry(number)).await?;
    let expected: Vec<_> = (0..=number).collect();
    equal("the appends", &entries(session).await?, &expected)
}

/// Moments from before an append begins until after most have ended.
fn moments() -> impl Iterator<Item = (usize, Duration)> {
    (0..16_u8).map(|round| (round.into(), Duration::from_micros(u64::from(round) * 150)))
}

pub(crate) async fn a_dropped_append_is_whole_or_absent(
    harness: &dyn ConversationHarness,
) -> Proof {
    let staged = harness.stage().await?;
    for (round, moment) in moments() {
        let (operation, messages) = (named(&new_id()), entry(round));
        let append = staged.session.append(&operation, &messages);
        // Nothing says what became of an append that was dropped.
        if round.is_multiple_of(2) {
            let _ = polled(round / 2, append).await;
        } else {
            let _ = timeout(moment, append).await;
        }
        is_there_once(&staged.session, &operation, round).await?;
    }
    sleep(SETTLED).await;
    equal("the appends", &entries(&staged.session).await?, &(0..16).collect())
}

pub(crate) async fn an_interrupted_append_tells_the_truth(
    harness: &dyn ConversationHarness,
) -> Proof {
    let staged = harness.stage().await?;
    let mut outcomes = Vec::new();
    for (round, moment) in moments() {
        let operation = operation_within(moment);
        let outcome = staged.session.append(&operation, &entry(round)).await;
        if let Err(failure) = &outcome {
            equal("the kind of failure of a late append", &failure.kind, &Kind::Timeout)?;
        }
        truthful(&outcome, entries(&staged.session).await?.contains(&round))?;
        outcomes.push((operation, outcome));
    }
    sleep(SETTLED).await;
    let kept = entries(&staged.session).await?;
    for (round, (_, outcome)) in outcomes.iter().enumerate() {
        truthful(outcome, kept.contains(&round))?;
    }
    for (round, (operation, _)) in outcomes.iter().enumerate() {
        append_as(&staged.session, &operation.id, &entry(round)).await?;
    }
    equal("the number of appends", &entries(&staged.session).await?.len(), &16)
}

pub(crate) async fn a_dropped_load_changes_nothing(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    for (round, moment) in moments() {
        append(&staged.session, &entry(round)).await?;
        let operation = named(&new_id());
        let load = staged.session.load_recent(&operation, 100);
        // Nothing says what became of a load that was dropped.
        if round.is_multiple_of(2) {
            let _ = polled(round / 2, load).await;
        } else {
            let _ = timeout(moment, load).await;
        }
        let expected: Vec<_> = (0..=round).collect();
        equal("the appends", &entries(&staged.session).await?, &expected)?;
        equal("the newest", &newest(&staged.session, 3).await?, &entry(round))?;
    }
    Ok(())
}
