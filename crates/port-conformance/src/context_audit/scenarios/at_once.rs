//! What writes at once leave.
//!
//! Knows nothing about locks.

use std::sync::Arc;

use runtime_ports::{
    CommitDisposition::NotCommitted, ContextAuditSession, ModelInvocationAuditState as State,
    PortFailure, PortFailureKind::Conflict,
};
use tokio::task::JoinSet;

use crate::{
    Broken, Proof,
    claim::{claim, equal, failure, operation, success},
    context_audit::{
        AuditHarness, StagedAudit,
        sample::{Written, history, holds, invocation, message, snapshot},
    },
};

const WRITERS: usize = 16;

type Outcomes = Vec<(Written, Result<(), PortFailure>)>;

async fn all(session: &Arc<dyn ContextAuditSession>, records: Vec<Written>) -> Outcomes {
    let mut writes = JoinSet::new();
    for record in records {
        let session = Arc::clone(session);
        writes.spawn(async move {
            let outcome = record.tried(&session, &operation()).await;
            (record, outcome)
        });
    }
    writes.join_all().await
}

pub(crate) async fn the_same_writes_at_once_agree(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let records = Written::of_each_kind("id");
    let many = records.iter().flat_map(|record| vec![record.clone(); WRITERS]).collect();
    for (_, outcome) in all(&staged.session, many).await {
        success("one of sixteen writes of the same", outcome)?;
    }
    holds(&mut staged, &records).await
}

/// The one that was kept.
async fn winner(staged: &mut StagedAudit, records: Vec<Written>) -> Result<Written, Broken> {
    let mut kept = Vec::new();
    for (record, outcome) in all(&staged.session, records).await {
        match outcome {
            Ok(()) => kept.push(record),
            outcome => drop(failure("who came second", outcome, Conflict, NotCommitted)?),
        }
    }
    equal("the number of values that were kept", &kept.len(), &1)?;
    kept.pop().ok_or_else(|| Broken::Claim("nothing was kept".to_owned()))
}

pub(crate) async fn one_of_many_values_wins(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let contexts = (1..=WRITERS).map(|len| Written::Snapshot(snapshot("id", history(len))));
    let context = winner(&mut staged, contexts.collect()).await?;
    let prepared = Written::Invocation(invocation("id", State::Prepared));
    prepared.write(&staged.session).await?;
    let ends = [State::Succeeded, State::Failed];
    let ends = ends.map(|state| Written::Invocation(invocation("id", state)));
    let end = winner(&mut staged, ends.into()).await?;
    holds(&mut staged, &[context, end]).await
}

pub(crate) async fn writes_at_once_are_all_kept(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let mut records = Vec::new();
    for writer in 0..WRITERS {
        // All begin alike; then each goes its own way.
        let mut messages = history(30);
        for turn in 0..4 {
            messages.push(message(messages.len(), &format!("{writer} said {turn}")));
            let id = format!("s-{writer}-{turn}");
            records.push(Written::Snapshot(snapshot(&id, messages.clone())));
        }
    }
    for (_, outcome) in all(&staged.session, records.clone()).await {
        success("one of many writes", outcome)?;
    }
    holds(&mut staged, &records).await?;
    let stored = staged.world.kept().await?.stored_messages;
    claim(stored == 30 + 4 * WRITERS, || format!("{stored} messages are stored"))
}
