//! How a child fails by itself, and what becomes of its task.
//!
//! Knows nothing about calls that are ended.

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind as Kind};

use crate::{
    Proof,
    claim::{claim, equal, failed, failure, operation, refused},
    subagents::{
        Child, ChildEnd, StagedSubagents, SubagentHarness,
        sample::{request, staged},
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

fn outage() -> PortFailure {
    PortFailure::not_sent(Kind::Unavailable, "SERVER_DOWN", "the server is down")
}

pub(crate) async fn a_failure_arrives_as_it_was(harness: &dyn SubagentHarness) -> Proof {
    let failures = [
        outage(),
        PortFailure::rejected(Kind::Forbidden, "NO_ENTRY", "the server lets nobody in"),
        PortFailure::rejected(Kind::RateLimited, "TOO_MANY", "too many calls"),
        PortFailure::in_flight_unknown(Kind::Unavailable, "CUT", "the line was cut"),
        PortFailure::committed(Kind::Protocol, "GIBBERISH", "the answer cannot be read"),
    ];
    for given in failures {
        let staged = staged(harness, &[("2*2", Child::fails(given.clone()))]).await?;
        let outcome = staged.tried(&operation(), request("1", "2*2")).await?;
        let arrived = failure("the call", outcome, given.kind, given.commit)?;
        equal("the code", &arrived.code, &given.code)?;
    }
    Ok(())
}

pub(crate) async fn a_failure_without_effect_leaves_the_id_free(
    harness: &dyn SubagentHarness,
) -> Proof {
    let children = [("2*2", Child::fails(outage())), ("2*2", Child::answers("4"))];
    let staged = staged(harness, &children).await?;
    let operation = operation();
    let outcome = staged.tried(&operation, request("1", "2*2")).await?;
    failure("the first call", outcome, Kind::Unavailable, NOT_COMMITTED)?;
    staged.answers(&operation, request("1", "2*2"), "4").await
}

/// The call fails, with an effect that may stand, and so does every later one.
async fn stays_failed(staged: &StagedSubagents, kind: Kind, turns: usize) -> Proof {
    let operation = operation();
    let outcome = staged.tried(&operation, request("1", "2*2")).await?;
    let first = refused("the call", outcome, kind)?;
    claim(first.commit != NOT_COMMITTED, || "it says that nothing was committed".into())?;
    for _ in 0..2 {
        let again = staged.tried(&operation, request("1", "2*2")).await?;
        equal("the failure of a later call", &failed("a later call", again)?, &first)?;
    }
    staged.took("2*2", turns)
}

pub(crate) async fn a_failure_with_effect_is_the_outcome(harness: &dyn SubagentHarness) -> Proof {
    for given in [
        PortFailure::in_flight_unknown(Kind::Unavailable, "CUT", "the line was cut"),
        PortFailure::committed(Kind::Protocol, "GIBBERISH", "the answer cannot be read"),
    ] {
        let kind = given.kind;
        let children = [("2*2", Child::fails(given)), ("2*2", Child::answers("4"))];
        stays_failed(&staged(harness, &children).await?, kind, 1).await?;
    }
    Ok(())
}

pub(crate) async fn a_failure_after_a_turn_is_not_without_effect(
    harness: &dyn SubagentHarness,
) -> Proof {
    for turns in [2, 3] {
        let children =
            [("2*2", Child::fails(outage()).in_turn(turns)), ("2*2", Child::answers("4"))];
        stays_failed(&staged(harness, &children).await?, Kind::Unavailable, turns).await?;
    }
    Ok(())
}

pub(crate) async fn nothing_to_say_is_a_failure(harness: &dyn SubagentHarness) -> Proof {
    for (answer, turns) in [("", 1), (" \n\t", 1), ("", 2)] {
        let child = Child::answers(answer).in_turn(turns);
        let children = [("2*2", child), ("2*2", Child::answers("4"))];
        stays_failed(&staged(harness, &children).await?, Kind::Protocol, turns).await?;
    }
    Ok(())
}

pub(crate) async fn a_child_that_breaks_down_is_a_failure(harness: &dyn SubagentHarness) -> Proof {
    let broken = Child::ending(ChildEnd::BreaksDown);
    let children = [("2*2", broken), ("2*2", Child::answers("4")), ("3*3", Child::answers("9"))];
    let staged = staged(harness, &children).await?;
    stays_failed(&staged, Kind::Internal, 1).await?;
    staged.answers(&operation(), request("1", "3*3"), "9").await
}

pub(crate) async fn a_question_of_a_child_is_a_failure(harness: &dyn SubagentHarness) -> Proof {
    let asks = Child::ending(ChildEnd::Asks("Which two?".into()));
    let staged = staged(harness, &[("2*2", asks)]).await?;
    let outcome = staged.tried(&operation(), request("1", "2*2")).await?;
    let committed = CommitDisposition::Committed;
    failure("a task with a question", outcome, Kind::Unavailable, committed)?;
    staged.rests().await
}
