//! Holds threads to their binding, to one turn at a time, and to their bound.

use std::sync::Arc;

use in_memory_fakes::FakeModel;
use runtime_ports::{
    AgentContinuation, AgentProvider, AgentTurnRequest, ModelMessage, ModelRole, PortFailureKind,
    TurnStart,
};
use uuid::Uuid;

use super::{OpenThread, Threads};
use crate::{
    candidate::{Candidate, Gate},
    route::Route,
    thread_store::KEPT_IN_MEMORY,
};

fn route(provider: &str, model: &str) -> Route {
    let primary = Candidate {
        provider: AgentProvider::new(provider),
        provider_model: model.into(),
        profile: FakeModel::default_profile(),
        session: Arc::new(FakeModel::new([])),
        gate: Gate::default(),
    };
    Route::new(model, primary)
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

fn open(threads: &Threads, start: TurnStart) -> Result<OpenThread, PortFailureKind> {
    threads.open(&start, &route("p", "m")).map_err(|failure| failure.kind)
}

/// A kept thread of one message.
fn kept(threads: &Threads) -> AgentContinuation {
    let mut thread = open(threads, start("ada", None, false)).unwrap();
    thread.transcript_mut().push(ModelMessage::text(ModelRole::User, "first"));
    thread.keep().unwrap()
}

#[test]
fn a_kept_thread_goes_on_where_it_was() {
    let threads = Threads::default();
    let continuation = kept(&threads);
    let thread = open(&threads, start("ada", Some(continuation.clone()), false)).unwrap();
    assert_eq!(thread.transcript().len(), 1);
    assert_eq!(thread.keep(), Some(continuation));
}

#[test]
fn a_thread_goes_on_only_with_its_user_provider_and_model() {
    let threads = Threads::default();
    let continuation = kept(&threads);
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
        let refused = open(&threads, start(user, Some(wanted.clone()), false));
        assert_eq!(refused.err(), Some(kind), "{user} {wanted:?}");
    }
    // A continuation that was forged to fit another model does not fit the thread.
    let forged = start("ada", Some(strange("q", "n")), false);
    let refused = threads.open(&forged, &route("q", "n"));
    assert_eq!(refused.err().map(|failure| failure.kind), Some(PortFailureKind::Invalid));
    assert!(open(&threads, start("ada", Some(continuation), false)).is_ok());
}

#[test]
fn one_turn_at_a_time_works_on_a_thread_and_a_dropped_one_leaves_it_as_it_was() {
    let threads = Threads::default();
    let continuation = kept(&threads);
    let again = || start("ada", Some(continuation.clone()), false);
    let mut first = open(&threads, again()).unwrap();
    assert_eq!(open(&threads, again()).err(), Some(PortFailureKind::Conflict));
    first.transcript_mut().push(ModelMessage::text(ModelRole::User, "lost"));
    drop(first);
    assert_eq!(open(&threads, again()).unwrap().transcript().len(), 1);
}

#[test]
fn an_ephemeral_turn_leaves_no_thread_and_no_continuation() {
    let threads = Threads::default();
    let thread = open(&threads, start("ada", None, true)).unwrap();
    assert_eq!(thread.id(), None);
    assert_eq!(thread.keep(), None);
    let continuation = kept(&threads);
    let on = start("ada", Some(continuation.clone()), true);
    let mut thread = open(&threads, on).unwrap();
    thread.transcript_mut().push(ModelMessage::text(ModelRole::User, "aside"));
    assert_eq!(thread.keep(), None);
    let thread = open(&threads, start("ada", Some(continuation), false)).unwrap();
    assert_eq!(thread.transcript().len(), 1);
}

#[test]
fn the_thread_that_was_used_least_recently_is_forgotten_first() {
    let threads = Threads::default();
    let (oldest, second) = (kept(&threads), kept(&threads));
    for _ in 2..KEPT_IN_MEMORY {
        kept(&threads);
    }
    let again = |wanted: &AgentContinuation| start("ada", Some(wanted.clone()), false);
    let used = open(&threads, again(&oldest)).unwrap();
    used.keep();
    kept(&threads);
    assert!(open(&threads, again(&oldest)).is_ok());
    assert_eq!(open(&threads, again(&second)).err(), Some(PortFailureKind::NotFound));
}
