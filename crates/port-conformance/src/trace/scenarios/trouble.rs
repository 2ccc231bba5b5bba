//! What becomes of an append that meets a slow or a failing store.
//!
//! Knows nothing about what makes it slow.

use std::time::Duration;

use runtime_ports::{OperationContext, PortFailure, PortFailureKind as Kind};
use runtime_types::ExecutionId;
use tokio::time::sleep;

use crate::{
    Broken, Proof, Trouble,
    claim::{
        SOON, cancelled_after, equal, failed, operation_within, polled, refused, truthful, within,
    },
    trace::{
        StagedTrace, TraceHarness,
        sample::{append_number, new_run, numbers, of, tried},
    },
};

use super::interruption::{SETTLED, goes_on};

const SLOW: Duration = Duration::from_millis(40);

/// Longer than any call may take after its end.
const STUCK: Duration = Duration::from_secs(3);

pub(crate) async fn a_slow_append_whose_caller_leaves_is_whole_or_absent(
    harness: &dyn TraceHarness,
) -> Proof {
    let (mut staged, run) = (harness.stage().await?, new_run());
    for polls in 0..8 {
        staged.world.befalls(Trouble::Slow(SLOW)).await?;
        // Nothing says what became of an append that was dropped.
        let _ = polled(polls, tried(&staged.ports, &of(&run), 100 + polls)).await;
        goes_on(&staged.ports, &run, polls).await?;
    }
    sleep(SETTLED).await;
    goes_on(&staged.ports, &run, 8).await
}

/// What a slow append says whose operation ends after `moment`.
async fn interrupted(
    staged: &mut StagedTrace,
    run: &ExecutionId,
    round: usize,
    moment: Duration,
) -> Result<Result<(), PortFailure>, Broken> {
    staged.world.befalls(Trouble::Slow(SLOW)).await?;
    if round.is_multiple_of(2) {
        let late = OperationContext { execution_id: run.clone(), ..operation_within(moment) };
        return Ok(tried(&staged.ports, &late, round).await);
    }
    let operation = of(run);
    let append = tried(&staged.ports, &operation, round);
    Ok(cancelled_after(&operation, moment, append).await)
}

pub(crate) async fn a_slow_append_that_is_interrupted_tells_the_truth(
    harness: &dyn TraceHarness,
) -> Proof {
    let (mut staged, run) = (harness.stage().await?, new_run());
    let mut outcomes = Vec::new();
    for (round, millis) in [5, 5, 18, 18, 25, 25, 38, 38, 80, 80].into_iter().enumerate() {
        let moment = Duration::from_millis(millis);
        let outcome = interrupted(&mut staged, &run, round, moment).await?;
        truthful(&outcome, numbers(&staged.ports, &run).await?.contains(&round))?;
        outcomes.push(outcome);
    }
    sleep(SETTLED).await;
    let kept = numbers(&staged.ports, &run).await?;
    for (round, outcome) in outcomes.iter().enumerate() {
        truthful(outcome, kept.contains(&round))?;
    }
    Ok(())
}

pub(crate) async fn a_slow_append_ends_with_its_operation(harness: &dyn TraceHarness) -> Proof {
    let (mut staged, run) = (harness.stage().await?, new_run());
    let moment = Duration::from_millis(40);
    staged.world.befalls(Trouble::Slow(STUCK)).await?;
    let late = OperationContext { execution_id: run.clone(), ..operation_within(moment) };
    let append = tried(&staged.ports, &late, 0);
    let outcome = within("an append past its deadline", moment + SOON, append).await?;
    refused("an append past its deadline", outcome, Kind::Timeout)?;

    let mut staged = harness.stage().await?;
    staged.world.befalls(Trouble::Slow(STUCK)).await?;
    let cancelled = of(&run);
    let append = cancelled_after(&cancelled, moment, tried(&staged.ports, &cancelled, 0));
    let outcome = within("a cancelled append", moment + SOON, append).await?;
    refused("a cancelled append", outcome, Kind::Canceled).map(drop)
}

pub(crate) async fn a_failing_append_tells_the_truth(harness: &dyn TraceHarness) -> Proof {
    let (mut staged, run) = (harness.stage().await?, new_run());
    for round in 0..3 {
        staged.world.befalls(Trouble::Refused).await?;
        let outcome = tried(&staged.ports, &of(&run), round).await;
        let failure = failed("an append that the store refused", outcome)?;
        truthful::<()>(&Err(failure), false)?;
        equal("the events", &numbers(&staged.ports, &run).await?, &(0..round).collect())?;
        append_number(&staged.ports, &run, round).await?;
        equal("the events", &numbers(&staged.ports, &run).await?, &(0..=round).collect())?;
    }
    Ok(())
}

pub(crate) async fn an_append_whose_reply_is_lost_tells_the_truth(
    harness: &dyn TraceHarness,
) -> Proof {
    let (mut staged, run) = (harness.stage().await?, new_run());
    for round in 0..3 {
        staged.world.befalls(Trouble::ReplyLost).await?;
        let outcome = tried(&staged.ports, &of(&run), round).await;
        truthful(&outcome, true)?;
        equal("the events", &numbers(&staged.ports, &run).await?, &(0..=round).collect())?;
    }
    Ok(())
}
