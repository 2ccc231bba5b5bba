//! What ends a call and its child before their time.
//!
//! Knows nothing about how a child is told.

use runtime_ports::{
    CommitDisposition, Interruption, OperationContext, PortFailure, PortFailureKind as Kind,
};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    Broken, Proof,
    claim::{
        BRIEFLY, PATIENCE, SOON, claim, equal, failed, failure, interrupted_operation, operation,
        within,
    },
    subagents::{
        Child, StagedSubagents, SubagentHarness,
        sample::{hasty_sibling, request, sibling, staged},
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;
const UNKNOWN: CommitDisposition = CommitDisposition::Unknown;

async fn runs_nothing(harness: &dyn SubagentHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = staged(harness, &[("2*2", Child::answers("4"))]).await?;
    let over = interrupted_operation(why);
    let outcome = staged.tried(&over, request("1", "2*2")).await?;
    failure("the call", outcome, kind, NOT_COMMITTED)?;
    staged.took("2*2", 0)?;
    staged.answers(&sibling(&over), request("1", "2*2"), "4").await
}

pub(crate) async fn a_cancelled_call_runs_nothing(harness: &dyn SubagentHarness) -> Proof {
    runs_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_call_runs_nothing(harness: &dyn SubagentHarness) -> Proof {
    runs_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

/// The failure of a call that is cancelled once its child is at work; it comes soon.
async fn cancelled(
    staged: &StagedSubagents,
    operation: &OperationContext,
) -> Result<PortFailure, Broken> {
    let calling =
        async { (staged.session.execute(operation, request("1", "2*2")).await, Instant::now()) };
    let cancelling = async {
        let began = staged.begins().await;
        operation.cancellation.cancel();
        (began, Instant::now())
    };
    let both = async { tokio::join!(calling, cancelling) };
    let ((outcome, ended), (began, cancelled)) =
        within("a cancelled call", 2 * PATIENCE, both).await?;
    began?;
    let late = ended.saturating_duration_since(cancelled);
    claim(late <= SOON, || format!("the call ended {late:?} after its cancellation"))?;
    failure("a cancelled call", outcome, Kind::Canceled, UNKNOWN)
}

pub(crate) async fn cancelling_ends_the_child(harness: &dyn SubagentHarness) -> Proof {
    // One that waits for its model, and one that is between its turns now and then.
    let busy = Child::never_ends().in_turn(usize::MAX).taking(BRIEFLY / 4);
    for child in [Child::never_ends(), busy] {
        let staged = staged(harness, &[("2*2", child)]).await?;
        let operation = operation();
        cancelled(&staged, &operation).await?;
        staged.rests().await?;
        let turns = staged.nursery.turns("2*2");
        sleep(BRIEFLY / 2).await;
        staged.took("2*2", turns)?;
    }
    Ok(())
}

pub(crate) async fn a_deadline_ends_the_child(harness: &dyn SubagentHarness) -> Proof {
    let staged = staged(harness, &[("2*2", Child::never_ends())]).await?;
    let hasty = hasty_sibling(&operation(), BRIEFLY);
    let call = staged.session.execute(&hasty, request("1", "2*2"));
    let outcome = within("a call past its deadline", BRIEFLY + SOON, call).await?;
    failure("a call past its deadline", outcome, Kind::Timeout, UNKNOWN)?;
    staged.rests().await
}

pub(crate) async fn dropping_ends_the_child(harness: &dyn SubagentHarness) -> Proof {
    let staged = staged(harness, &[("2*2", Child::never_ends())]).await?;
    let operation = operation();
    let call = staged.session.execute(&operation, request("1", "2*2"));
    // Dropped at its end, whatever it came to.
    let dropped = timeout(BRIEFLY, call).await;
    failed("a call without an end", dropped.map(|outcome| outcome.is_ok()))?;
    within("the end of the child", SOON, staged.rests()).await??;
    staged.took("2*2", 1)
}

pub(crate) async fn a_child_that_ends_leaves_its_parent(harness: &dyn SubagentHarness) -> Proof {
    let children = [("end", Child::never_ends()), ("2*2", Child::answers("4").taking(BRIEFLY))];
    let staged = staged(harness, &children).await?;
    let operation = operation();
    let ending = staged.session.execute(&operation, request("1", "end"));
    let cancelling = async {
        let began = staged.begins().await;
        sleep(BRIEFLY / 8).await;
        staged.nursery.cancels_itself("end");
        began
    };
    let sibling = staged.answers(&operation, request("2", "2*2"), "4");
    let all = async { tokio::join!(ending, cancelling, sibling) };
    let (ended, began, sibling) = within("both calls", PATIENCE, all).await?;
    began?;
    let ended = failed("the call of a child that was ended", ended)?;
    claim(ended.commit != NOT_COMMITTED, || "it says that nothing was committed".into())?;
    let is_cancelled = operation.cancellation.is_cancelled();
    claim(!is_cancelled, || "the parent's operation was cancelled by its child".into())?;
    sibling
}

pub(crate) async fn a_task_that_was_ended_stays_ended(harness: &dyn SubagentHarness) -> Proof {
    let children = [("2*2", Child::never_ends()), ("2*2", Child::answers("4"))];
    let staged = staged(harness, &children).await?;
    let operation = operation();
    let first = cancelled(&staged, &operation).await?;
    for _ in 0..2 {
        let again = staged.tried(&sibling(&operation), request("1", "2*2")).await?;
        equal("the failure of a later call", &failed("a later call", again)?, &first)?;
    }
    staged.took("2*2", 1)
}
