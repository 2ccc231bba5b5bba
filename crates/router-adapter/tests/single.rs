//! A router over one session runs a turn from its input to its receipt.

use std::sync::Arc;

use in_memory_fakes::{FakeModel, ModelStep};
use router_adapter::Router;
use runtime_ports::{
    AgentTurnEvent, AgentTurnRequest, DEFAULT_MAX_REQUESTS, Intelligence as _, Metering,
    ModelToolDefinition, TokenUsage, ToolResult, TurnEnd, TurnStart,
};
use serde_json::json;
use uuid::Uuid;

fn start(input: &str) -> TurnStart {
    TurnStart {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        parent_operation_id: None,
        continuation: None,
        request: AgentTurnRequest {
            model: FakeModel::MODEL.into(),
            reasoning_effort: String::new(),
            input: input.into(),
            tools: vec![ModelToolDefinition {
                name: "look".into(),
                description: "Looks.".into(),
                input_schema: json!({ "type": "object" }),
            }],
            timeout: None,
            ephemeral: false,
            max_requests: DEFAULT_MAX_REQUESTS,
        },
    }
}

#[tokio::test]
async fn a_turn_with_a_call_runs_to_its_receipt() {
    let model = FakeModel::new([
        ModelStep::tool_call("c1", "look", json!({})).usage(10, 2),
        ModelStep::text("two files").usage(20, 3),
    ]);
    let router = Router::single(Arc::new(model.clone()), FakeModel::MODEL);
    let mut turn = router.start_agent_turn(start("what is there?")).await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = turn.next_event().await.unwrap() {
        if let AgentTurnEvent::ToolCall { call_id, .. } = &event {
            let result = ToolResult { success: true, text: "a b".into() };
            turn.respond(call_id, result).await.unwrap();
        }
        seen.push(event);
    }
    let usage = |input, output| TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..TokenUsage::default()
    };
    assert!(matches!(seen[0], AgentTurnEvent::ModelContextSubmitted(_)), "{seen:?}");
    assert_eq!(seen[1], AgentTurnEvent::UsageUpdated(usage(10, 2)));
    assert!(matches!(seen[2], AgentTurnEvent::ToolCall { .. }));
    assert_eq!(seen[3], AgentTurnEvent::TextDelta("two files".into()));
    assert_eq!(seen[4], AgentTurnEvent::UsageUpdated(usage(30, 5)));
    assert!(matches!(&seen[5], AgentTurnEvent::Completed { answer, .. } if answer == "two files"));
    assert_eq!(seen.len(), 6);
    let receipt = turn.receipt().unwrap();
    assert_eq!(receipt.end, TurnEnd::Completed);
    assert_eq!(receipt.metering, Metering::Tokens(usage(30, 5)));
    assert_eq!(receipt.requests.len(), 2);
    assert!(turn.continuation().is_some());
    router.settled().await;
    model.assert_script_done();
}
