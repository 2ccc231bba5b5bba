//! Holds threads to their binding, to one turn at a time, and to their bound.

use std::sync::Arc;

use in_memory_fakes::FakeModel;
use runtime_ports::{
    AgentContinuation, AgentProvider, AgentTurnRequest, ModelMessage, ModelRole, PortFailureKind,
    TurnStart,
};
use uuid::Uuid;

use super::{KEPT_IN_MEMORY, OpenThread, Threads};
use crate::route::Route;

fn route(provider: &str, model: &str) -> Route {
    Route {
        requested: model.into(),
        provider: AgentProvider::new(provider),
        provider_model: model.into(),
        profile: FakeModel::default_profile(),
        session: Arc::new(FakeModel::new([])),
    }
}

fn start(user: &str, continuation: Option<AgentContinuation>, ephemeral: bool) -> TurnStart {
    let request = AgentTurnRequest {
        model: "m".into(),
        reasoning_effort: String::new(),
        input: "hello".into(),
        tools: Vec::new(),
        timeout: None,
        ephemeral,
        max_requests: 1,
    };
    let (operation_id, parent_operation_id) = (Uuid::new_v4(), None);
    TurnStart { user_id: user.into(), operation_id, parent_operation_id, continuation, request }
}

async fn open(threads: &Threads, start: TurnStart) -> Result<OpenThread, PortFailureKind> {
    threads.open(&start, &route("p", "m")).await.map_err(|failure| failure.kind)
}

/// A kept thread of one message.
async fn kept(threads: &Threads) -> AgentContinuation {
    let mut thread = open(threads, start("ada", None, false)).await.unwrap();
    thread.thread.transcript.push(ModelMessage::text(ModelRole::User, "first"));
    thread.keep().await.unwrap().unwrap()
}

#[tokio::test]
async fn a_kept_thread_goes_on_where_it_was() {
    let threads = Threads::in_memory();
    let continuation = kept(&threads).await;
    let thread = open(&threads, start("ada", Some(continuation.clone()), false)).await.unwrap();
    assert_eq!(thread.thread.transcript.len(), 1);
    assert_eq!(thread.keep().await.unwrap(), Some(continuation));
}

#[tokio::test]
async fn a_thread_goes_on_only_with_its_user_provider_and_model() {
    let threads = Threads::in_memory();
    let continuation = kept(&threads).await;
    let strange = |provider: &str, model: &str| AgentContinuation {
        provider: AgentProvider::new(provider),
        provider_model: model.into(),
        ..continuation.clone()
    };
    let cases = [
        ("ada", strange("q", "m"), PortFailureKind::Invalid),
        ("ada", strange("p", "n"), PortFailureKind::Invalid),
        ("eve", continuation.clone(), PortFailureKind::NotFound),
        (
            "ada",
            AgentContinuation { thread_id: "gone".into(), ..continuation.clone() },
            PortFailureKind::NotFound,
        ),
    ];
    for (user, wanted, kind) in cases {
        let refused = open(&threads, start(user, Some(wanted.clone()), false)).await;
        assert_eq!(refused.err(), Some(kind), "{user} {wanted:?}");
    }
    // A continuation that was forged to fit another model does not fit the thread.
    let forged = start("ada", Some(strange("q", "n")), false);
    let refused = threads.open(&forged, &route("q", "n")).await;
    assert_eq!(refused.err().map(|failure| failure.kind), Some(PortFailureKind::Invalid));
    assert!(open(&threads, start("ada", Some(continuation), false)).await.is_ok());
}

#[tokio::test]
async fn one_turn_at_a_time_works_on_a_thread_and_a_dropped_one_leaves_it_as_it_was() {
    let threads = Threads::in_memory();
    let continuation = kept(&threads).await;
    let again = || start("ada", Some(continuation.clone()), false);
    let mut first = open(&threads, again()).await.unwrap();
    assert_eq!(open(&threads, again()).await.err(), Some(PortFailureKind::Conflict));
    first.thread.transcript.push(ModelMessage::text(ModelRole::User, "lost"));
    drop(first);
    assert_eq!(open(&threads, again()).await.unwrap().thread.transcript.len(), 1);
}

#[tokio::test]
async fn an_ephemeral_turn_leaves_no_thread_and_no_continuation() {
    let threads = Threads::in_memory();
    let thread = open(&threads, start("ada", None, true)).await.unwrap();
    assert_eq!(thread.id(), None);
    assert_eq!(thread.keep().await.unwrap(), None);
    let continuation = kept(&threads).await;
    let on = start("ada", Some(continuation.clone()), true);
    let mut thread = open(&threads, on).await.unwrap();
    thread.thread.transcript.push(ModelMessage::text(ModelRole::User, "aside"));
    assert_eq!(thread.keep().await.unwrap(), None);
    let thread = open(&threads, start("ada", Some(continuation), false)).await.unwrap();
    assert_eq!(thread.thread.transcript.len(), 1);
}

#[tokio::test]
async fn the_thread_that_was_used_least_recently_is_forgotten_first() {
    let threads = Threads::in_memory();
    let (oldest, second) = (kept(&threads).await, kept(&threads).await);
    for _ in 2..KEPT_IN_MEMORY {
        kept(&threads).await;
    }
    let again = |wanted: &AgentContinuation| start("ada", Some(wanted.clone()), false);
    let used = open(&threads, again(&oldest)).await.unwrap();
    used.keep().await.unwrap();
    kept(&threads).await;
    assert!(open(&threads, again(&oldest)).await.is_ok());
    assert_eq!(open(&threads, again(&second)).await.err(), Some(PortFailureKind::NotFound));
}
