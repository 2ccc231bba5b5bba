//! What outlives a process, what two of them share, and what two conversations do not.
//!
//! Knows nothing about how a conversation is opened.

use crate::{
    Proof,
    conversation::{
        ConversationHarness,
        sample::{all_said, append, append_as, holds, new_id},
    },
};

use super::operations::conflicts;

pub(crate) async fn an_append_outlives_its_process(harness: &dyn ConversationHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let (first, second) = (new_id(), new_id());
    let messages = all_said(&["a", "b", "c"]);
    append_as(&staged.session, &first, &messages[..2]).await?;
    let next = staged.world.after_death(staged.session).await?;
    holds(&next, &messages[..2]).await?;
    append_as(&next, &first, &messages[..2]).await?;
    conflicts(&next, &first, &messages).await?;
    holds(&next, &messages[..2]).await?;
    append_as(&next, &second, &messages[2..]).await?;
    let last = staged.world.after_death(next).await?;
    append_as(&last, &second, &messages[2..]).await?;
    append_as(&last, &first, &messages[..2]).await?;
    holds(&last, &messages).await
}

pub(crate) async fn two_processes_see_one_conversation(harness: &dyn ConversationHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let second = staged.world.second_process().await?;
    let (id, messages) = (new_id(), all_said(&["a", "b", "c", "d"]));
    append_as(&staged.session, &id, &messages[..2]).await?;
    holds(&second, &messages[..2]).await?;
    append(&second, &messages[2..]).await?;
    holds(&staged.session, &messages).await?;
    append_as(&second, &id, &messages[..2]).await?;
    conflicts(&second, &id, &messages).await?;
    for session in [&staged.session, &second] {
        holds(session, &messages).await?;
    }
    Ok(())
}

pub(crate) async fn conversations_are_separate(harness: &dyn ConversationHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let (id, here, there) = (new_id(), all_said(&["a", "b"]), all_said(&["c"]));
    append_as(&staged.session, &id, &here).await?;
    let other = staged.world.another_conversation().await?;
    holds(&other, &[]).await?;
    append_as(&other, &id, &there).await?;
    append_as(&other, &id, &there).await?;
    holds(&other, &there).await?;
    holds(&staged.session, &here).await
}
