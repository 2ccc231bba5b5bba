//! Rules 1 and 2: how a run begins, or does not.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use async_trait::async_trait;
use in_memory_fakes::{FakeIntelligence, TurnScript};
use runtime_kernel::{AgentRuntime, AuditEvent, SubagentError};
use runtime_ports::{
    AgentProvider, AgentTurn, DEFAULT_MAX_REQUESTS, Digest, Intelligence, PortFailure,
    PortFailureKind, ResolvedAgentModel, TurnFailure, TurnStart,
};
use serde_json::json;
use uuid::{Uuid, Version};

use crate::stage::{CONTEXT, Stage, TASK, calling, estimate};

/// Counts how often a model is resolved.
struct Counting(FakeIntelligence, AtomicU32);

#[async_trait]
impl Intelligence for Counting {
    async fn resolve_agent_model(&self, name: &str) -> Result<ResolvedAgentModel, PortFailure> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.resolve_agent_model(name).await
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        self.0.start_agent_turn(start).await
    }

    async fn cancel(&self, operation_id: Uuid) -> Result<bool, PortFailure> {
        self.0.cancel(operation_id).await
    }
}

#[tokio::test]
async fn rule_01_the_model_is_resolved_once() {
    let script = calling(&["list"]).complete("done");
    let stage = Stage::new(script).outcome(runtime_kernel::ToolOutcome::success("ok"));
    let (intelligence, _, request, mut host) = stage.set();
    let counting = Arc::new(Counting(intelligence, AtomicU32::new(0)));
    let runtime = AgentRuntime::new(Arc::clone(&counting) as Arc<dyn Intelligence>);
    let result = runtime.run(request, &mut host).await.expect("an answer");
    assert_eq!(result.model.provider_model, "exact");
    assert_eq!(result.model.requested_model, "alias");
    assert_eq!(counting.1.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn rule_01_an_unknown_model_is_refused_before_any_event() {
    let mut stage = Stage::without_turn();
    stage.request.model = "nobody".to_owned();
    let played = stage.play().await;
    let failure = played.error().downcast_ref::<PortFailure>().expect("the port's failure");
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    assert!(played.host.asked.is_empty());
}

#[tokio::test]
async fn rule_01_an_input_that_does_not_fit_is_refused_before_any_event_and_any_call() {
    let needed = estimate(&[CONTEXT, TASK]);
    let played = Stage::without_turn().max_input_tokens(needed - 1).play().await;
    let expected =
        SubagentError::InputTooLarge { estimated_tokens: needed, max_input_tokens: needed - 1 };
    assert_eq!(played.error().downcast_ref(), Some(&expected));
    assert!(played.host.asked.is_empty());
    assert!(played.intelligence.asked().is_empty());
    let played = Stage::new(TurnScript::new().complete("a")).max_input_tokens(needed).play().await;
    assert_eq!(played.answer(), "a", "the limit itself fits");
}

#[tokio::test]
async fn rule_02_start_and_submission_are_recorded_before_the_turn_starts() {
    let played = Stage::new(TurnScript::new().complete("done")).play().await;
    let (parent_operation_id, input) = (Uuid::from_u128(7), format!("{CONTEXT}\n\n{TASK}"));
    let started = AuditEvent::Started {
        parent_operation_id,
        model: "alias".to_owned(),
        provider_model: "exact".to_owned(),
        provider: AgentProvider::new("fake"),
        context_window_tokens: 200_000,
        max_input_tokens: 100_000,
        context: vec![CONTEXT.to_owned()],
        task: TASK.to_owned(),
        host: json!({ "depth": 1 }),
    };
    let submitted = AuditEvent::InferenceSubmitted {
        parent_operation_id,
        round: 1,
        manifest_hash: Digest::of(input.as_bytes()).to_string(),
        estimated_input_tokens: estimate(&[CONTEXT, TASK]),
    };
    assert_eq!(played.host.events[..2], [started, submitted]);
    for event in ["Started", "InferenceSubmitted"] {
        let played = Stage::without_turn().fails_to_record(event).play().await;
        assert_eq!(played.error().to_string(), format!("record of {event} failed"));
        assert!(played.intelligence.asked().is_empty(), "nothing starts after {event} failed");
    }
}

#[tokio::test]
async fn rule_02_the_turn_is_fresh_ephemeral_and_a_child_under_a_new_id() {
    let mut descriptions = Vec::new();
    let mut ids = Vec::new();
    for task in ["one", "another"] {
        let mut stage = Stage::new(TurnScript::new().complete("done"));
        stage.request.task = task.to_owned();
        let played = stage.play().await;
        let start = played.intelligence.asked().remove(0);
        assert_eq!(start.user_id, "ada");
        assert_eq!(start.parent_operation_id, Some(Uuid::from_u128(7)));
        assert_eq!(start.continuation, None);
        assert_eq!(start.operation_id.get_version(), Some(Version::Random));
        let turn = start.request;
        assert_eq!(turn.input, format!("{CONTEXT}\n\n{task}"));
        assert_eq!((turn.model.as_str(), turn.reasoning_effort.as_str()), ("alias", "low"));
        assert!(turn.ephemeral);
        assert_eq!(turn.max_requests, DEFAULT_MAX_REQUESTS);
        assert_eq!(turn.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(), ["call_ktool"]);
        descriptions.push(turn.tools[0].description.clone());
        ids.push(start.operation_id);
    }
    assert_eq!(descriptions[0], descriptions[1], "one constant text");
    assert_ne!(ids[0], ids[1]);
}
