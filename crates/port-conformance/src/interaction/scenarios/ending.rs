//! How a wait ends without an answer.
//!
//! Knows nothing about why.

use runtime_ports::{CommitDisposition, InteractionResponse, PortFailureKind as Kind};
use tokio::time::{Instant, sleep, timeout};

use super::{ID, question, staged};
use crate::{
    Proof,
    claim::{
        BRIEFLY, PATIENCE, SOON, claim, equal, failed, failure, operation, operation_within,
        success, within,
    },
    interaction::{Audience, InteractionHarness, StagedInteraction},
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

pub(crate) async fn nobody_to_ask_is_unavailable(harness: &dyn InteractionHarness) -> Proof {
    let staged = harness.stage(Audience::Nobody).await?;
    let operation = operation();
    let asking = staged.session.request(&operation, question());
    let asked = within("asking nobody", SOON, asking).await?;
    failure("asking nobody", asked, Kind::Unavailable, NOT_COMMITTED)?;
    equal("what is seen", &staged.human.sees(), &Vec::new())
}

/// The question is still there, and its answer reaches the next wait.
async fn question_stays(
    staged: &StagedInteraction,
    operation: &runtime_ports::OperationContext,
) -> Proof {
    equal("what is seen", &staged.human.sees(), &vec![question()])?;
    staged.answer(operation, "at last").await;
    let waiting = within("the second wait", PATIENCE, staged.wait(operation)).await?;
    equal("the answer", &waiting?, &InteractionResponse::text("at last"))
}

pub(crate) async fn a_deadline_ends_the_wait(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let patient = operation();
    staged.prepare(&patient, question()).await?;
    let mut hasty = operation_within(BRIEFLY);
    hasty.execution_id = patient.execution_id.clone();
    let wait = staged.session.wait(&hasty, ID);
    let waited = within("a wait past its deadline", BRIEFLY + SOON, wait).await?;
    failure("a wait past its deadline", waited, Kind::Timeout, NOT_COMMITTED)?;
    question_stays(&staged, &patient).await
}

pub(crate) async fn cancelling_ends_the_wait(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let patient = operation();
    staged.prepare(&patient, question()).await?;
    let mut hasty = operation();
    hasty.execution_id = patient.execution_id.clone();
    let waiting = async { (staged.session.wait(&hasty, ID).await, Instant::now()) };
    let cancelling = async {
        sleep(BRIEFLY / 8).await;
        hasty.cancellation.cancel();
        Instant::now()
    };
    let both = async { tokio::join!(waiting, cancelling) };
    let ((waited, ended), cancelled) = within("a cancelled wait", PATIENCE, both).await?;
    failure("a cancelled wait", waited, Kind::Canceled, NOT_COMMITTED)?;
    let late = ended.saturating_duration_since(cancelled);
    claim(late <= SOON, || format!("the wait ended {late:?} after its cancellation"))?;
    question_stays(&staged, &patient).await
}

pub(crate) async fn a_dropped_wait_leaves_the_question(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    let dropped = timeout(BRIEFLY / 8, staged.session.wait(&operation, ID)).await;
    failed("a wait without an answer", dropped.map(|waited| success("the wait", waited)))?;
    question_stays(&staged, &operation).await
}
