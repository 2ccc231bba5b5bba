//! What outlives a process, and what two of them share.
//!
//! Knows nothing about how a store is opened.

use std::sync::Arc;

use runtime_ports::{
    CommitDisposition::NotCommitted, ContextAuditSession, ModelInvocationAuditState as State,
    PortFailureKind::Conflict,
};

use crate::{
    Proof,
    claim::{equal, failure, operation},
    context_audit::{
        AuditHarness,
        sample::{Written, history, holds, invocation, snapshot},
    },
};

fn context(id: &str, len: usize) -> Written {
    Written::Snapshot(snapshot(id, history(len)))
}

fn of(id: &str, state: State) -> Written {
    Written::Invocation(invocation(id, state))
}

async fn is_refused(session: &Arc<dyn ContextAuditSession>, other: &Written) -> Proof {
    let outcome = other.tried(session, &operation()).await;
    failure("another value under a known id", outcome, Conflict, NotCommitted).map(drop)
}

pub(crate) async fn writes_outlive_their_process(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let mut written: Vec<_> = Written::of_each_kind("first").into();
    written.push(context("long", 50));
    for record in &written {
        record.write(&staged.session).await?;
    }
    staged.session = staged.world.after_death(staged.session).await?;
    holds(&mut staged, &written).await?;
    // The next process knows what was there, and goes on with it.
    for record in &written {
        record.write(&staged.session).await?;
    }
    is_refused(&staged.session, &context("long", 49)).await?;
    written[2] = of("first", State::Succeeded);
    written.push(context("longer", 60));
    written[2].write(&staged.session).await?;
    written[4].write(&staged.session).await?;
    staged.session = staged.world.after_death(staged.session).await?;
    holds(&mut staged, &written).await?;
    is_refused(&staged.session, &of("first", State::Failed)).await?;
    equal("the number of stored messages", &staged.world.kept().await?.stored_messages, &62)
}

pub(crate) async fn two_processes_see_one_store(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let second = staged.world.second_process().await?;
    let mut written = Vec::new();
    for round in 0..10 {
        let sessions = [Arc::clone(&staged.session), Arc::clone(&second)];
        let (one, other) = (&sessions[round % 2], &sessions[(round + 1) % 2]);
        let record = context(&format!("s-{round}"), 5 * (round + 1));
        record.write(one).await?;
        record.write(other).await?;
        is_refused(other, &context(&format!("s-{round}"), 1)).await?;
        let id = format!("i-{round}");
        of(&id, State::Prepared).write(one).await?;
        of(&id, State::Succeeded).write(other).await?;
        is_refused(one, &of(&id, State::Failed)).await?;
        written.extend([record, of(&id, State::Succeeded)]);
    }
    holds(&mut staged, &written).await?;
    equal("the number of stored messages", &staged.world.kept().await?.stored_messages, &50)
}
