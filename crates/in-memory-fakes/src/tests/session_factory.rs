//! Decides whether leases live as long as they may, and an input counts once.

use std::time::Duration;

use runtime_ports::{
    ExecutionDelegationLease, ExecutionSessionFactory, InteractionRequest, InteractionResponse,
    PortFailure, PortFailureKind, SessionScope,
};
use runtime_types::{
    CallerScope, CredentialHandle, DelegationLeaseRef, OperationId, RequestAuthority, SubjectId,
    TenantId,
};

use super::{context, kind_of, operation, run};
use crate::{FakeSessionFactory, FakeSessions};

const HOUR: Duration = Duration::from_hours(1);

fn caller(subject: &str) -> CallerScope {
    CallerScope::of(SubjectId::new(subject).unwrap())
}

fn scope(execution: &str) -> SessionScope {
    let (execution_id, resolved) = (run(execution), context("instance"));
    SessionScope { execution_id, conversation_id: None, resolved }
}

async fn established(factory: &FakeSessionFactory, subject: &str) -> ExecutionDelegationLease {
    let credential = CredentialHandle::new("canary-key");
    let authority = RequestAuthority { caller: caller(subject), credential };
    factory.establish_delegation(&operation("op"), &authority, &scope("run-1")).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_by_its_newest_revision_until_it_is_over() {
    let factory = FakeSessionFactory::new(FakeSessions::default());
    let ada = caller("ada");
    let renew = async |lease: &ExecutionDelegationLease| {
        factory.renew_delegation(&operation("op"), &ada, lease).await
    };
    let first = established(&factory, "ada").await;
    assert_eq!((first.revision, first.expires_at_seconds), (1, 1_800_003_600));
    tokio::time::advance(HOUR / 2).await;
    let second = renew(&first).await.unwrap();
    assert_eq!((second.revision, second.expires_at_seconds), (2, 1_800_005_400));
    assert_eq!(kind_of(renew(&first).await), PortFailureKind::Conflict);
    assert_eq!(factory.living_leases(), 1);

    tokio::time::advance(HOUR).await;
    assert_eq!(kind_of(renew(&second).await), PortFailureKind::Forbidden);
    assert_eq!(factory.living_leases(), 0);
}

#[tokio::test]
async fn a_revoked_or_foreign_lease_gives_nothing() {
    let factory = FakeSessionFactory::new(FakeSessions::default()).with_ttl(2 * HOUR);
    let (op, ada) = (operation("op"), caller("ada"));
    let lease = established(&factory, "ada").await;
    factory.create(&op, &ada, &lease, &scope("run-1")).await.unwrap();
    let forged =
        ExecutionDelegationLease { lease_ref: DelegationLeaseRef::new("forged"), ..lease.clone() };
    let mut stranger = ada.clone();
    stranger.tenant_id = Some(TenantId::new("other").unwrap());
    for (who, lease, scope) in [
        (&caller("bob"), &lease, scope("run-1")),
        (&stranger, &lease, scope("run-1")),
        (&ada, &forged, scope("run-1")),
        (&ada, &lease, scope("run-2")),
    ] {
        let outcome = factory.create(&op, who, lease, &scope).await;
        assert_eq!(kind_of(outcome), PortFailureKind::Forbidden);
    }
    for _ in 0..2 {
        factory.revoke_delegation(&op, &ada, &lease).await.unwrap();
    }
    let renewed = factory.renew_delegation(&op, &ada, &lease).await;
    assert_eq!(kind_of(renewed), PortFailureKind::Forbidden);
    let created = factory.create(&op, &ada, &lease, &scope("run-1")).await;
    assert_eq!(kind_of(created), PortFailureKind::Forbidden);
}

#[tokio::test]
async fn an_input_counts_once_and_only_while_something_waits() {
    let factory = FakeSessionFactory::new(FakeSessions::default());
    let (op, ada) = (operation("op"), caller("ada"));
    let submit = async |who: &str, execution: &str, id: &str, question: &str, text: &str| {
        let (who, execution) = (caller(who), run(execution));
        let id = OperationId::new(id).unwrap();
        let answer = InteractionResponse::text(text);
        factory.submit_input(&op, &who, &execution, &id, question, answer).await
    };
    let lease = established(&factory, "ada").await;
    let ports = factory.create(&op, &ada, &lease, &scope("run-1")).await.unwrap();
    assert_eq!(
        kind_of(submit("ada", "run-1", "i1", "q1", "blue").await),
        PortFailureKind::Conflict
    );
    ports.interaction.prepare(&op, InteractionRequest::question("q1", "colour?")).await.unwrap();

    for (who, execution) in [("bob", "run-1"), ("ada", "run-2")] {
        let outcome = submit(who, execution, "i1", "q1", "blue").await;
        assert_eq!(kind_of(outcome), PortFailureKind::NotFound);
    }
    for _ in 0..3 {
        assert_eq!(submit("ada", "run-1", "i1", "q1", "blue").await, Ok(()));
    }
    for (id, question, text) in [("i1", "q1", "red"), ("i1", "q2", "blue"), ("i2", "q1", "blue")] {
        let outcome = submit("ada", "run-1", id, question, text).await;
        assert_eq!(kind_of(outcome), PortFailureKind::Conflict, "{id} {question} {text}");
    }
    let answer = ports.interaction.wait(&op, "q1").await;
    assert_eq!(answer, Ok(InteractionResponse::text("blue")));
}

#[tokio::test]
async fn a_refused_input_may_be_submitted_again_under_its_id() -> Result<(), PortFailure> {
    let factory = FakeSessionFactory::new(FakeSessions::default());
    let (op, ada) = (operation("op"), caller("ada"));
    let lease = established(&factory, "ada").await;
    let ports = factory.create(&op, &ada, &lease, &scope("run-1")).await?;
    let id = OperationId::new("i1").unwrap();
    let submit = async || {
        let answer = InteractionResponse::text("blue");
        factory.submit_input(&op, &ada, &run("run-1"), &id, "q1", answer).await
    };
    assert_eq!(kind_of(submit().await), PortFailureKind::Conflict);
    ports.interaction.prepare(&op, InteractionRequest::question("q1", "colour?")).await?;
    submit().await
}

#[tokio::test]
async fn no_secret_is_recorded() {
    let factory = FakeSessionFactory::new(FakeSessions::default());
    let lease = established(&factory, "ada").await;
    let shown = format!("{:?} {factory:?} {lease:?}", factory.asked());
    assert!(!shown.contains("canary-key") && !shown.contains("fake-lease"), "{shown}");
}
