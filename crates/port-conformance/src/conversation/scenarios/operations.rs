//! That an operation appends once.
//!
//! Knows nothing about what is said.

use runtime_ports::{
    CommitDisposition, ConversationMessage, ModelRole, OperationContext, PortFailureKind as Kind,
};
use runtime_types::OperationId;

use crate::{
    Proof,
    claim::{failure, operation, success},
    conversation::{
        ConversationHarness,
        sample::{Session, all_said, append, append_as, holds, named, new_id, said, says, tried},
    },
};

/// Under this operation, other messages than these were appended.
pub(super) async fn conflicts(
    session: &Session,
    id: &OperationId,
    messages: &[ConversationMessage],
) -> Proof {
    let outcome = tried(session, id, messages).await;
    let not_committed = CommitDisposition::NotCommitted;
    failure("appending otherwise", outcome, Kind::Conflict, not_committed).map(drop)
}

pub(crate) async fn an_operation_appends_once(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let (first, second) = (new_id(), new_id());
    let messages = all_said(&["a", "b", "c"]);
    append_as(&staged.session, &first, &messages[..2]).await?;
    append_as(&staged.session, &first, &messages[..2]).await?;
    holds(&staged.session, &messages[..2]).await?;
    append_as(&staged.session, &second, &messages[2..]).await?;
    for (id, again) in [(&first, &messages[..2]), (&second, &messages[2..])] {
        append_as(&staged.session, id, again).await?;
        holds(&staged.session, &messages).await?;
    }
    Ok(())
}

pub(crate) async fn other_messages_of_an_operation_are_conflict(
    harness: &dyn ConversationHarness,
) -> Proof {
    let staged = harness.stage().await?;
    let (id, messages) = (new_id(), all_said(&["a", "b"]));
    append_as(&staged.session, &id, &messages).await?;
    let others = [
        all_said(&["a", "c"]),
        all_said(&["a", "b "]),
        all_said(&["ab"]),
        all_said(&["a"]),
        all_said(&["a", "b", "c"]),
        all_said(&["b", "a"]),
        vec![said("a"), says(ModelRole::Assistant, "b")],
        Vec::new(),
    ];
    for other in &others {
        conflicts(&staged.session, &id, other).await?;
        conflicts(&staged.session, &id, other).await?;
        holds(&staged.session, &messages).await?;
    }
    append_as(&staged.session, &id, &messages).await?;
    holds(&staged.session, &messages).await
}

pub(crate) async fn an_operation_is_one_in_every_execution(
    harness: &dyn ConversationHarness,
) -> Proof {
    let staged = harness.stage().await?;
    let (first, messages) = (operation(), all_said(&["a"]));
    let elsewhere = OperationContext { id: first.id.clone(), ..operation() };
    let child = OperationContext { parent: Some(new_id()), ..named(&first.id) };
    for operation in [&first, &elsewhere, &child] {
        success("appending", staged.session.append(operation, &messages).await)?;
    }
    holds(&staged.session, &messages).await?;
    let other = staged.session.append(&elsewhere, &all_said(&["b"])).await;
    failure("appending otherwise", other, Kind::Conflict, CommitDisposition::NotCommitted)?;
    holds(&staged.session, &messages).await
}

pub(crate) async fn equal_messages_of_two_operations_are_both_kept(
    harness: &dyn ConversationHarness,
) -> Proof {
    let staged = harness.stage().await?;
    let messages = all_said(&["yes", "yes"]);
    for _ in 0..3 {
        append(&staged.session, &messages).await?;
    }
    holds(&staged.session, &all_said(&["yes"; 6])).await
}

pub(crate) async fn no_message_is_what_its_operation_appended(
    harness: &dyn ConversationHarness,
) -> Proof {
    let staged = harness.stage().await?;
    let id = new_id();
    append_as(&staged.session, &id, &[]).await?;
    holds(&staged.session, &[]).await?;
    let messages = all_said(&["a"]);
    append(&staged.session, &messages).await?;
    append_as(&staged.session, &id, &[]).await?;
    conflicts(&staged.session, &id, &messages).await?;
    holds(&staged.session, &messages).await
}
