//! Sets up a router over a scripted model and a store in memory, and plays turns on it.
//!
//! Knows nothing about what the tests expect.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeModel, FakeReceiptStore, FaultPlan, ModelStep};
use router_adapter::{Catalogue, Router};
use runtime_ports::{
    AgentTurn, AgentTurnEvent, AgentTurnRequest, Intelligence as _, ModelSession,
    ModelToolDefinition, PortFailure, PortFailureKind, TokenUsage, ToolResult, TurnFailure,
    TurnStart, UsageReceipt,
};
use serde_json::json;
use uuid::Uuid;

/// One model, at 1 and 2 dollars for a million tokens of prompt and answer.
pub(crate) const CATALOGUE: &str = r#"
    [[models]]
    id = "writer"
    provider = "house"
    provider_model = "fake-model"
    aliases = ["best"]
    context_window_tokens = 128_000
    max_input_tokens = 120_000
    price = { input = 1_000_000_000, output = 2_000_000_000 }
"#;

pub(crate) struct Stage {
    pub(crate) model: FakeModel,
    pub(crate) store: FakeReceiptStore,
    pub(crate) router: Router,
}

/// What a host saw of a turn.
#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) events: Vec<AgentTurnEvent>,
    pub(crate) failure: Option<TurnFailure>,
}

impl Stage {
    pub(crate) async fn new(steps: impl IntoIterator<Item = ModelStep>) -> Self {
        Self::with_faults(steps, &FaultPlan::new()).await
    }

    pub(crate) async fn with_faults(
        steps: impl IntoIterator<Item = ModelStep>,
        faults: &FaultPlan,
    ) -> Self {
        let model = FakeModel::new(steps);
        let store = FakeReceiptStore::new().with_faults(faults);
        let router = router_over(Arc::new(model.clone()), &store).await;
        Self { model, store, router }
    }

    pub(crate) async fn begin(&self, start: &TurnStart) -> Box<dyn AgentTurn> {
        self.router.start_agent_turn(start.clone()).await.expect("the start is not refused")
    }

    /// Plays one turn to its end and waits until the router is at rest.
    pub(crate) async fn play(&self) -> Course {
        let mut turn = self.begin(&start("hello")).await;
        let course = follow(turn.as_mut()).await;
        drop(turn);
        self.router.settled().await;
        course
    }

    /// The one receipt that was settled; no turn is open.
    #[track_caller]
    pub(crate) fn receipt(&self) -> UsageReceipt {
        assert!(self.store.open_turns().is_empty(), "a turn is open");
        let mut settled = self.store.settled();
        assert_eq!(settled.len(), 1, "{settled:?}");
        settled.remove(0)
    }
}

pub(crate) async fn router_over(
    session: Arc<dyn ModelSession>,
    store: &FakeReceiptStore,
) -> Router {
    Router::builder()
        .catalogue(Catalogue::parse(CATALOGUE).expect("the catalogue is valid"))
        .provider("house", session)
        .receipts(Arc::new(store.clone()))
        .start()
        .await
        .expect("the router starts")
}

pub(crate) fn start(input: &str) -> TurnStart {
    TurnStart {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        parent_operation_id: Some(Uuid::from_u128(7)),
        continuation: None,
        request: AgentTurnRequest {
            model: "writer".into(),
            reasoning_effort: String::new(),
            input: input.into(),
            tools: vec![tool("read"), tool("write")],
            timeout: None,
            ephemeral: false,
            max_requests: 250,
        },
    }
}

/// The same start with a timeout of so many seconds.
pub(crate) fn within(seconds: u64, mut start: TurnStart) -> TurnStart {
    start.request.timeout = Some(Duration::from_secs(seconds));
    start
}

fn tool(name: &str) -> ModelToolDefinition {
    ModelToolDefinition {
        name: name.into(),
        description: format!("Can {name}."),
        input_schema: json!({ "type": "object" }),
    }
}

pub(crate) fn call(id: &str) -> ModelStep {
    ModelStep::tool_call(id, "read", json!({ "path": "a" }))
}

pub(crate) fn done(id: &str) -> ToolResult {
    ToolResult { success: true, text: format!("result of {id}") }
}

pub(crate) fn usage(input: u64, output: u64) -> TokenUsage {
    let (input_tokens, output_tokens) = (Some(input), Some(output));
    TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() }
}

/// Follows a turn to its end, answering each call.
pub(crate) async fn follow(turn: &mut dyn AgentTurn) -> Course {
    let mut events = Vec::new();
    loop {
        match turn.next_event().await {
            Ok(Some(event)) => {
                if let AgentTurnEvent::ToolCall { call_id, .. } = &event {
                    // An answer that comes too late shows in the next event.
                    let _ = turn.respond(call_id, done(call_id)).await;
                }
                events.push(event);
            }
            Ok(None) => return Course { events, failure: None },
            Err(failure) => return Course { events, failure: Some(failure) },
        }
    }
}

/// Follows a turn until it calls a tool; gives the id of the call.
pub(crate) async fn follow_to_call(turn: &mut dyn AgentTurn) -> String {
    loop {
        let event = turn.next_event().await.expect("no failure").expect("no end");
        if let AgentTurnEvent::ToolCall { call_id, .. } = event {
            return call_id;
        }
    }
}

impl Course {
    #[track_caller]
    pub(crate) fn answer(&self) -> &str {
        match self.events.last() {
            Some(AgentTurnEvent::Completed { answer, .. }) => answer,
            _ => panic!("the turn did not complete: {self:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn failure(&self) -> &PortFailure {
        &self.failure.as_ref().expect("the turn failed").failure
    }

    #[track_caller]
    pub(crate) fn failed_receipt(&self) -> &UsageReceipt {
        let failure = self.failure.as_ref().expect("the turn failed");
        failure.receipt.as_deref().expect("the failure has its receipt")
    }

    pub(crate) fn calls(&self) -> Vec<&str> {
        let ids = self.events.iter().filter_map(|event| match event {
            AgentTurnEvent::ToolCall { call_id, .. } => Some(call_id.as_str()),
            _ => None,
        });
        ids.collect()
    }

    pub(crate) fn text(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            AgentTurnEvent::TextDelta(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

pub(crate) fn rate_limited() -> PortFailure {
    PortFailure::rejected(PortFailureKind::RateLimited, "RATE_LIMITED", "slow down").retryable()
}

pub(crate) fn overloaded() -> PortFailure {
    let failure = PortFailure::in_flight_unknown;
    failure(PortFailureKind::Unavailable, "OVERLOADED", "try later").retryable()
}

/// A failure of the store that may pass.
pub(crate) fn disk_full() -> PortFailure {
    PortFailure::not_sent(PortFailureKind::Unavailable, "DISK_FULL", "make room").retryable()
}

/// A failure of the store after which nobody knows.
pub(crate) fn disk_lost() -> PortFailure {
    PortFailure::in_flight_unknown(PortFailureKind::Unavailable, "DISK_LOST", "look at the disk")
}
