//! How far an invocation may go.
//!
//! Knows nothing about contexts.

use runtime_ports::{
    ModelInvocationAudit,
    ModelInvocationAuditState::{self as State, Failed, Prepared, Succeeded},
    TokenUsage,
};

use super::identity::conflict;
use crate::{
    Proof,
    context_audit::{
        AuditHarness,
        sample::{Written, holds, invocation},
    },
};

fn of(id: &str, state: State) -> Written {
    Written::Invocation(invocation(id, state))
}

pub(crate) async fn an_invocation_comes_to_one_end(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    for (id, end) in [("fine", Succeeded), ("broken", Failed)] {
        of(id, Prepared).write(&staged.session).await?;
        of(id, Prepared).write(&staged.session).await?;
        let before: &[_] = match end {
            Failed => &[of("fine", Succeeded), of(id, Prepared)],
            _ => &[of(id, Prepared)],
        };
        holds(&mut staged, before).await?;
        of(id, end).write(&staged.session).await?;
        of(id, end).write(&staged.session).await?;
    }
    holds(&mut staged, &[of("fine", Succeeded), of("broken", Failed)]).await
}

pub(crate) async fn a_second_end_is_a_conflict(harness: &dyn AuditHarness) -> Proof {
    for (end, other) in [(Succeeded, Failed), (Failed, Succeeded)] {
        let mut staged = harness.stage().await?;
        of("id", Prepared).write(&staged.session).await?;
        let kept = [of("id", end)];
        kept[0].write(&staged.session).await?;
        let usage = TokenUsage { output_tokens: Some(1), ..TokenUsage::default() };
        let others = [
            of("id", other),
            of("id", Prepared),
            Written::Invocation(ModelInvocationAudit { usage, ..invocation("id", end) }),
            Written::Invocation(ModelInvocationAudit {
                error_code: Some("ANOTHER".to_owned()),
                ..invocation("id", end)
            }),
        ];
        conflict(&mut staged, &kept, others).await?;
    }
    Ok(())
}

pub(crate) async fn an_end_of_something_else_is_a_conflict(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let kept = [of("id", Prepared)];
    kept[0].write(&staged.session).await?;
    for state in [Prepared, Succeeded, Failed] {
        let others = [
            ModelInvocationAudit { model: "model-2".to_owned(), ..invocation("id", state) },
            ModelInvocationAudit {
                request_snapshot_id: "another".to_owned(),
                ..invocation("id", state)
            },
        ];
        conflict(&mut staged, &kept, others.map(Written::Invocation)).await?;
    }
    of("id", Succeeded).write(&staged.session).await
}

pub(crate) async fn an_end_without_a_beginning_is_kept(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let kept = [of("id", Failed)];
    kept[0].write(&staged.session).await?;
    holds(&mut staged, &kept).await?;
    conflict(&mut staged, &kept, [of("id", Prepared), of("id", Succeeded)]).await
}
