//! What becomes of an append that meets a slow or a failing store.
//!
//! Knows nothing about what makes it slow.

use std::time::Duration;

use runtime_ports::{OperationContext, PortFailure, PortFailureKind as Kind};
use tokio::time::sleep;

use crate::{
    Broken, Proof, Trouble,
    claim::{
        SOON, cancelled_after, equal, failed, operation, operation_within, polled, refused,
        truthful, within,
    },
    conversation::{
        ConversationHarness, StagedConversation,
        sample::{append, append_as, entries, entry},
    },
};

use super::interruption::{SETTLED, is_there_once};

const SLOW: Duration = Duration::from_millis(40);

/// Longer than any call may take after its end.
const STUCK: Duration = Duration::from_secs(3);

pub(crate) async fn a_slow_append_whose_caller_leaves_is_whole_or_absent(
    harness: &dyn ConversationHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    for polls in 0..8 {
        staged.world.befalls(Trouble::Slow(SLOW)).await?;
        let operation = operation();
        // Nothing says what became of an append that was dropped.
        let _ = polled(polls, staged.session.append(&operation, &entry(polls))).await;
        is_there_once(&staged.session, &operation, polls).await?;
    }
    sleep(SETTLED).await;
    equal("the appends", &entries(&staged.session).await?, &(0..8).collect())
}

/// Begins a slow append, and ends its operation after `moment`.
async fn interrupted(
    staged: &mut StagedConversation,
    round: usize,
    moment: Duration,
) -> Result<(OperationContext, Result<(), PortFailure>), Broken> {
    staged.world.befalls(Trouble::Slow(SLOW)).await?;
    if round.is_multiple_of(2) {
        let operation = operation_within(moment);
        let outcome = staged.session.append(&operation, &entry(round)).await;
        return Ok((operation, outcome));
    }
    let operation = operation();
    let messages = entry(round);
    let append = staged.session.append(&operation, &messages);
    let outcome = cancelled_after(&operation, moment, append).await;
    Ok((operation, outcome))
}

pub(crate) async fn a_slow_append_that_is_interrupted_tells_the_truth(
    harness: &dyn ConversationHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    let mut outcomes = Vec::new();
    for (round, millis) in [5, 5, 18, 18, 25, 25, 38, 38, 80, 80].into_iter().enumerate() {
        let moment = Duration::from_millis(millis);
        let (operation, outcome) = interrupted(&mut staged, round, moment).await?;
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
    equal("the number of appends", &entries(&staged.session).await?.len(), &outcomes.len())
}

pub(crate) async fn a_slow_append_ends_with_its_operation(
    harness: &dyn ConversationHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    let (moment, messages) = (Duration::from_millis(40), entry(0));
    staged.world.befalls(Trouble::Slow(STUCK)).await?;
    let late = operation_within(moment);
    let append = staged.session.append(&late, &messages);
    let outcome = within("an append past its deadline", moment + SOON, append).await?;
    refused("an append past its deadline", outcome, Kind::Timeout)?;

    let mut staged = harness.stage().await?;
    staged.world.befalls(Trouble::Slow(STUCK)).await?;
    let cancelled = operation();
    let append = staged.session.append(&cancelled, &messages);
    let append = cancelled_after(&cancelled, moment, append);
    let outcome = within("a cancelled append", moment + SOON, append).await?;
    refused("a cancelled append", outcome, Kind::Canceled).map(drop)
}

pub(crate) async fn a_failing_append_tells_the_truth(harness: &dyn ConversationHarness) -> Proof {
    let mut staged = harness.stage().await?;
    append(&staged.session, &entry(0)).await?;
    for round in 1..4 {
        staged.world.befalls(Trouble::Refused).await?;
        let operation = operation();
        let outcome = staged.session.append(&operation, &entry(round)).await;
        let failure = failed("an append that the store refused", outcome)?;
        truthful::<()>(&Err(failure), false)?;
        equal("the appends", &entries(&staged.session).await?, &(0..round).collect())?;
        is_there_once(&staged.session, &operation, round).await?;
    }
    Ok(())
}

pub(crate) async fn an_append_whose_reply_is_lost_tells_the_truth(
    harness: &dyn ConversationHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    for round in 0..3 {
        staged.world.befalls(Trouble::ReplyLost).await?;
        let operation = operation();
        let outcome = staged.session.append(&operation, &entry(round)).await;
        truthful(&outcome, true)?;
        equal("the appends", &entries(&staged.session).await?, &(0..=round).collect())?;
        is_there_once(&staged.session, &operation, round).await?;
    }
    Ok(())
}
