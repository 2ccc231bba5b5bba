//! What several calls at once get.
//!
//! Knows nothing about threads.

use std::sync::Arc;

use runtime_ports::{CommitDisposition, OperationContext, PortFailureKind as Kind};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    Proof,
    claim::{BRIEFLY, PATIENCE, SOON, claim, equal, failed, operation, refused, success, within},
    subagents::{
        Child, StagedSubagents, SubagentHarness,
        sample::{request, sibling, staged},
    },
};

/// How many children work side by side.
const CROWD: usize = 64;

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

pub(crate) async fn the_same_request_at_once_runs_once(harness: &dyn SubagentHarness) -> Proof {
    for child in [Child::answers("4"), Child::answers("4").taking(BRIEFLY / 8)] {
        let staged = staged(harness, &[("2*2", child)]).await?;
        let operation = operation();
        let mut calls = JoinSet::new();
        for _ in 0..16 {
            let (session, operation) = (Arc::clone(&staged.session), sibling(&operation));
            calls.spawn(async move { session.execute(&operation, request("1", "2*2")).await });
        }
        for outcome in within("sixteen calls", PATIENCE, calls.join_all()).await? {
            equal("the answer", success("a call", outcome)?.answer.as_str(), "4")?;
        }
        staged.took("2*2", 1)?;
    }
    Ok(())
}

pub(crate) async fn who_waits_for_a_child_may_leave(harness: &dyn SubagentHarness) -> Proof {
    let slow = Child::answers("4").taking(2 * BRIEFLY);
    let staged = staged(harness, &[("2*2", slow)]).await?;
    let own = operation();
    let waiting = sibling(&own);
    let leaving = async {
        staged.begins().await?;
        let second = async {
            let second = staged.session.execute(&waiting, request("1", "2*2"));
            let cancel = async {
                sleep(BRIEFLY / 8).await;
                waiting.cancellation.cancel();
            };
            tokio::join!(second, cancel).0
        };
        let outcome = within("the second call", BRIEFLY / 8 + SOON / 2, second).await?;
        refused("the second call", outcome, Kind::Canceled)
    };
    let first = staged.answers(&own, request("1", "2*2"), "4");
    let (first, left) = tokio::join!(first, leaving);
    left?;
    first?;
    staged.took("2*2", 1)
}

/// A second call that waits for the child of a first one, which is ended by `end`, learns of it.
async fn learns_of_the_end(
    staged: &StagedSubagents,
    own: &OperationContext,
    is_dropped: bool,
) -> Proof {
    let second_operation = sibling(own);
    let second = async {
        staged.begins().await?;
        let second = staged.session.execute(&second_operation, request("1", "2*2"));
        let outcome = within("the second call", BRIEFLY + SOON, second).await?;
        failed("a call for a child that was ended", outcome)
    };
    let first = async {
        let ended = async {
            sleep(BRIEFLY / 2).await;
            if !is_dropped {
                own.cancellation.cancel();
                sleep(SOON).await;
            }
        };
        tokio::select! {
            biased;
            outcome = staged.session.execute(own, request("1", "2*2")) => Some(outcome),
            () = ended => None,
        }
    };
    let (first, second) = tokio::join!(first, second);
    let second = second?;
    claim(second.commit != NOT_COMMITTED, || "it says that nothing was committed".into())?;
    if let Some(outcome) = first {
        equal("the failure of the second call", &second, &failed("a cancelled call", outcome)?)?;
    }
    staged.rests().await?;
    staged.took("2*2", 1)
}

pub(crate) async fn who_waits_for_a_child_learns_of_its_end(
    harness: &dyn SubagentHarness,
) -> Proof {
    for is_dropped in [false, true] {
        let staged = staged(harness, &[("2*2", Child::never_ends())]).await?;
        learns_of_the_end(&staged, &operation(), is_dropped).await?;
    }
    Ok(())
}

pub(crate) async fn many_children_at_once_get_their_own_answers(
    harness: &dyn SubagentHarness,
) -> Proof {
    let prompts: Vec<_> = (0..CROWD).map(|number| format!("task {number}")).collect();
    let child =
        |prompt: &String| (prompt.clone(), Child::answers(prompt).in_turn(3).taking(BRIEFLY / 4));
    let staged = harness.stage(prompts.iter().map(child).collect()).await?;
    let (operation, began) = (operation(), Instant::now());
    let mut calls = JoinSet::new();
    for prompt in &prompts {
        let (session, operation) = (Arc::clone(&staged.session), operation.clone());
        let asked = request(&format!("id of {prompt}"), prompt);
        calls
            .spawn(async move { (asked.prompt.clone(), session.execute(&operation, asked).await) });
    }
    for (prompt, outcome) in within("all calls", 2 * PATIENCE, calls.join_all()).await? {
        equal("the answer", &success("a call", outcome)?.answer, &prompt)?;
        staged.took(&prompt, 3)?;
    }
    // One after the other, they would take sixteen times that long.
    let (took, alone) = (began.elapsed(), 3 * BRIEFLY / 4);
    claim(took < 16 * alone, || format!("{CROWD} children took {took:?}, one takes {alone:?}"))
}
