//! Decides whether audited values stay as they are, and invocations end once.

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot, ContextAuditStage,
    ContextDerivationKind, ModelInvocationAudit, ModelInvocationAuditState as State, ModelMessage,
    ModelRole, PortFailureKind, TokenUsage, ToolSet,
};

use super::{kind_of, operation, transcript};
use crate::FakeContextAudit;

fn snapshot(purpose: &str) -> ContextAuditSnapshot {
    ContextAuditSnapshot {
        id: "s1".to_owned(),
        stage: ContextAuditStage::Original,
        purpose: purpose.to_owned(),
        messages: transcript("hello"),
        tools: ToolSet::default(),
        protocol_overhead_tokens: 1,
        reserved_output_tokens: 2,
        estimated_tokens: 3,
        request_digest: "d".to_owned(),
        segments: Vec::new(),
        compared_with: None,
    }
}

fn derivation(input_items: usize) -> ContextAuditDerivation {
    ContextAuditDerivation {
        id: "d1".to_owned(),
        source_snapshot_id: "s1".to_owned(),
        target_snapshot_id: "s2".to_owned(),
        kind: ContextDerivationKind::Trim,
        input_tokens: 3,
        output_tokens: 2,
        input_items,
        output_items: 1,
    }
}

fn invocation(state: State, model: &str) -> ModelInvocationAudit {
    ModelInvocationAudit {
        id: "i1".to_owned(),
        request_snapshot_id: "s1".to_owned(),
        model: model.to_owned(),
        state,
        usage: TokenUsage::default(),
        error_code: None,
    }
}

#[tokio::test]
async fn the_same_value_again_is_ok_and_another_is_a_conflict() {
    let audit = FakeContextAudit::new();
    let op = operation("op");
    assert_eq!(audit.snapshot(&op, snapshot("cycle")).await, Ok(()));
    assert_eq!(audit.snapshot(&op, snapshot("cycle")).await, Ok(()));
    assert_eq!(kind_of(audit.snapshot(&op, snapshot("summary")).await), PortFailureKind::Conflict);
    assert_eq!(audit.snapshots()["s1"], snapshot("cycle"));
    assert_eq!(audit.derivation(&op, derivation(2)).await, Ok(()));
    assert_eq!(audit.derivation(&op, derivation(2)).await, Ok(()));
    assert_eq!(kind_of(audit.derivation(&op, derivation(3)).await), PortFailureKind::Conflict);
    assert_eq!(audit.derivations()["d1"], derivation(2));
    assert_eq!(audit.calls().len(), 6);
}

#[tokio::test]
async fn an_invocation_goes_from_prepared_to_one_end() {
    let cases = [
        (State::Prepared, State::Succeeded, true),
        (State::Prepared, State::Failed, true),
        (State::Prepared, State::Prepared, true),
        (State::Succeeded, State::Succeeded, true),
        (State::Succeeded, State::Failed, false),
        (State::Failed, State::Succeeded, false),
        (State::Succeeded, State::Prepared, false),
    ];
    for (first, second, allowed) in cases {
        let audit = FakeContextAudit::new();
        audit.model_invocation(&operation("op"), invocation(first, "m")).await.unwrap();
        let outcome = audit.model_invocation(&operation("op"), invocation(second, "m")).await;
        assert_eq!(outcome.is_ok(), allowed, "{first:?} to {second:?}");
        let kept = if allowed { second } else { first };
        assert_eq!(audit.invocations()["i1"].state, kept);
    }
}

#[tokio::test]
async fn an_end_of_another_model_is_a_conflict() {
    let audit = FakeContextAudit::new();
    audit.model_invocation(&operation("op"), invocation(State::Prepared, "m")).await.unwrap();
    let other = invocation(State::Succeeded, "other");
    let outcome = audit.model_invocation(&operation("op"), other).await;
    assert_eq!(kind_of(outcome), PortFailureKind::Conflict);
}

#[tokio::test]
async fn snapshots_come_back_exactly_and_each_message_is_kept_once() {
    let audit = FakeContextAudit::new();
    let mut history = transcript("hello");
    let mut expected = Vec::new();
    for number in 0..100 {
        history.push(ModelMessage::text(ModelRole::User, format!("{number}")));
        let id = format!("s{number:03}");
        let taken = ContextAuditSnapshot { id, messages: history.clone(), ..snapshot("cycle") };
        assert_eq!(audit.snapshot(&operation("op"), taken.clone()).await, Ok(()));
        // The same messages from elsewhere, around others.
        let mut view = transcript("instead");
        view.extend(history.messages().cloned());
        let id = format!("v{number:03}");
        let view = ContextAuditSnapshot { id, messages: view, ..snapshot("cycle") };
        assert_eq!(audit.snapshot(&operation("op"), view.clone()).await, Ok(()));
        expected.extend([taken, view]);
    }
    expected.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(audit.snapshots().into_values().collect::<Vec<_>>(), expected);
    assert_eq!(audit.message_count(), 102);
}
