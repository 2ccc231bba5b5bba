//! What the same id means: the same value again, or a conflict.
//!
//! Knows nothing about invocations that go on.

use runtime_ports::{
    CommitDisposition::NotCommitted, ContextAuditDerivation, ContextAuditSnapshot,
    ContextAuditStage, ContextDerivationKind, ModelInvocationAuditState as State,
    PortFailureKind::Conflict, SegmentChange, ToolSet,
};

use crate::{
    Proof,
    claim::{equal, failure, operation},
    context_audit::{
        AuditHarness, StagedAudit,
        sample::{Written, derivation, holds, invocation, said, snapshot, tools},
    },
};

pub(crate) async fn the_same_value_again_changes_nothing(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let mut written: Vec<_> = Written::of_each_kind("id").into();
    written.push(Written::Invocation(invocation("ended", State::Succeeded)));
    for _ in 0..3 {
        // Made anew each time: nothing is shared but what they say.
        let again = Written::of_each_kind("id");
        for record in again.iter().chain(&written[3..]) {
            record.write(&staged.session).await?;
        }
        holds(&mut staged, &written).await?;
    }
    let stored = staged.world.kept().await?.stored_messages;
    equal("the number of stored messages", &stored, &2)
}

/// Each of `others` is refused, and what is there stays.
pub(super) async fn conflict(
    staged: &mut StagedAudit,
    kept: &[Written],
    others: impl IntoIterator<Item = Written>,
) -> Proof {
    for other in others {
        let outcome = other.tried(&staged.session, &operation()).await;
        failure("another value under a known id", outcome, Conflict, NotCommitted)?;
        holds(staged, kept).await?;
    }
    Ok(())
}

pub(crate) async fn another_snapshot_is_a_conflict(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let messages = said(["question", "answer"]);
    let first = snapshot("id", messages.clone());
    let kept = [Written::Snapshot(first.clone())];
    kept[0].write(&staged.session).await?;
    let mut rewritten = first.clone();
    rewritten.segments[0].change = SegmentChange::Displaced;
    let first = || first.clone();
    let others = [
        ContextAuditSnapshot { stage: ContextAuditStage::Original, ..first() },
        ContextAuditSnapshot { purpose: "summary".to_owned(), ..first() },
        ContextAuditSnapshot { messages: said(["question", "another"]), ..first() },
        ContextAuditSnapshot { messages: messages.prefix(1), ..first() },
        ContextAuditSnapshot { messages: said(["question", "answer", "more"]), ..first() },
        ContextAuditSnapshot { tools: tools(&["write_file", "read_file"]), ..first() },
        ContextAuditSnapshot { tools: ToolSet::default(), ..first() },
        ContextAuditSnapshot { protocol_overhead_tokens: 4, ..first() },
        ContextAuditSnapshot { reserved_output_tokens: 0, ..first() },
        ContextAuditSnapshot { estimated_tokens: 1, ..first() },
        ContextAuditSnapshot { request_digest: "other".to_owned(), ..first() },
        ContextAuditSnapshot { segments: Vec::new(), ..first() },
        rewritten,
        ContextAuditSnapshot { compared_with: None, ..first() },
    ];
    conflict(&mut staged, &kept, others.map(Written::Snapshot)).await
}

pub(crate) async fn another_derivation_is_a_conflict(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let kept = [Written::Derivation(derivation("id"))];
    kept[0].write(&staged.session).await?;
    let first = || derivation("id");
    let others = [
        ContextAuditDerivation { source_snapshot_id: "other".to_owned(), ..first() },
        ContextAuditDerivation { target_snapshot_id: "other".to_owned(), ..first() },
        ContextAuditDerivation { kind: ContextDerivationKind::Trim, ..first() },
        ContextAuditDerivation { input_tokens: 0, ..first() },
        ContextAuditDerivation { output_tokens: 0, ..first() },
        ContextAuditDerivation { input_items: 0, ..first() },
        ContextAuditDerivation { output_items: 0, ..first() },
    ];
    conflict(&mut staged, &kept, others.map(Written::Derivation)).await
}

pub(crate) async fn kinds_have_ids_of_their_own(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let written: Vec<_> = ["a", "b"].into_iter().flat_map(Written::of_each_kind).collect();
    for record in written.iter().rev() {
        record.write(&staged.session).await?;
    }
    holds(&mut staged, &written).await
}

pub(crate) async fn names_are_not_resolved(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let mut written = vec![
        Written::Derivation(derivation("derivation")),
        Written::Invocation(invocation("invocation", State::Prepared)),
    ];
    for record in &written {
        record.write(&staged.session).await?;
    }
    holds(&mut staged, &written).await?;
    // What they name may come later, and need not all come.
    written.push(Written::Snapshot(snapshot("target", said(["question"]))));
    written[2].write(&staged.session).await?;
    holds(&mut staged, &written).await
}
