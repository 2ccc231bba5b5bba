//! What preparing a question does.
//!
//! Knows nothing about how it is shown.

use runtime_ports::{
    CommitDisposition, InteractionRequest, InteractionResponse, Interruption,
    PortFailureKind as Kind,
};

use super::{ID, question, staged};
use crate::{
    Proof,
    claim::{PATIENCE, equal, failure, interrupted_operation, operation, within},
    interaction::InteractionHarness,
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

pub(crate) async fn a_prepared_question_is_seen_whole(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    equal("what is seen before", &staged.human.sees(), &Vec::new())?;
    let approval = InteractionRequest {
        expires_at: Some(4_102_444_800_000),
        ..InteractionRequest::approval("approval-1", "run this?\n\u{e4} \"quoted\"", "digest-1")
    };
    staged.prepare(&operation, question()).await?;
    staged.prepare(&operation, approval.clone()).await?;
    equal("what is seen", &staged.human.sees(), &vec![question(), approval])
}

pub(crate) async fn preparing_again_changes_nothing(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    staged.prepare(&operation, question()).await?;
    equal("what is seen", &staged.human.sees(), &vec![question()])?;
    staged.answer(&operation, "blue").await;
    staged.prepare(&operation, question()).await?;
    equal("what is seen after the answer", &staged.human.sees(), &Vec::new())?;
    let waiting = within("the wait", PATIENCE, staged.wait(&operation)).await?;
    equal("the answer", &waiting?, &InteractionResponse::text("blue"))
}

pub(crate) async fn preparing_otherwise_is_conflict(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    let other = InteractionRequest::question(ID, "which animal?");
    let prepared = staged.session.prepare(&operation, other).await;
    failure("preparing another question", prepared, Kind::Conflict, NOT_COMMITTED)?;
    equal("what is seen", &staged.human.sees(), &vec![question()])
}

pub(crate) async fn a_cancelled_question_is_not_seen(harness: &dyn InteractionHarness) -> Proof {
    let staged = staged(harness).await?;
    let cancelled = interrupted_operation(Interruption::Canceled);
    let prepared = staged.session.prepare(&cancelled, question()).await;
    failure("preparing", prepared, Kind::Canceled, NOT_COMMITTED)?;
    let late = interrupted_operation(Interruption::DeadlineExceeded);
    let prepared = staged.session.prepare(&late, question()).await;
    failure("preparing too late", prepared, Kind::Timeout, NOT_COMMITTED)?;
    equal("what is seen", &staged.human.sees(), &Vec::new())
}

pub(crate) async fn a_prepared_question_outlives_its_process(
    harness: &dyn InteractionHarness,
) -> Proof {
    let staged = staged(harness).await?;
    let operation = operation();
    staged.prepare(&operation, question()).await?;
    let next = staged.human.after_death().await?;
    equal("what is seen after a death", &next.human.sees(), &vec![question()])?;
    next.answer(&operation, "blue").await;
    let waiting = within("the wait", PATIENCE, next.wait(&operation)).await?;
    equal("the answer", &waiting?, &InteractionResponse::text("blue"))
}
