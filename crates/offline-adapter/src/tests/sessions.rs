//! Decides whether the rules keep the contract of a model session.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use runtime_ports::{
    DeltaSink, GenerationOptions, Metering, ModelContent, ModelDelta, ModelFinish, ModelMessage,
    ModelRequest, ModelRole, ModelSession, ModelToolDefinition, OperationContext, PortFailureKind,
    TokenUsage, ToolSet,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::json;

use crate::{OFFLINE_MODEL, OfflineModel};

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, Duration::from_secs(5))
}

fn tool(name: &str, description: &str) -> ModelToolDefinition {
    let input_schema = json!({ "type": "object" });
    ModelToolDefinition { name: name.into(), description: description.into(), input_schema }
}

fn request(task: &str, tools: Vec<ModelToolDefinition>) -> ModelRequest {
    ModelRequest {
        invocation_id: "i".into(),
        model: OFFLINE_MODEL.into(),
        messages: vec![ModelMessage::text(ModelRole::User, task)].into(),
        tools: ToolSet::new(tools),
        max_output_tokens: None,
        options: Arc::new(GenerationOptions::default()),
    }
}

#[tokio::test]
async fn tools_are_called_natively_or_through_the_bridge() {
    let arguments = json!({ "path": "a.txt" });
    let bridge =
        tool("call_ktool", "Call a tool.\n{\"name\":\"read_file\",\"description\":\"\"}\n");
    let bridged = json!({ "name": "read_file", "arguments": arguments });
    for (offered, name, expected) in
        [(tool("read_file", ""), "read_file", &arguments), (bridge, "call_ktool", &bridged)]
    {
        let request = request("read a.txt", vec![offered]);
        let response = OfflineModel.invoke(&operation(), request).await.unwrap();
        assert_eq!(response.finish, ModelFinish::ToolCalls);
        let call = ModelContent::ToolUse {
            id: "offline-1".into(),
            name: name.into(),
            arguments: expected.clone(),
        };
        assert_eq!(response.output, [call]);
    }
}

#[tokio::test]
async fn a_missing_tool_is_named_and_every_answer_is_signed() {
    let response = OfflineModel.invoke(&operation(), request("list files", vec![])).await.unwrap();
    let [ModelContent::Text { text }] = &response.output[..] else { panic!("{response:?}") };
    let expected = "This task needs the tool list_files, which is not offered here.\n\n(offline model: rule-based, no network)";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn usage_is_unreported_never_zero() {
    let response = OfflineModel.invoke(&operation(), request("sing", vec![])).await.unwrap();
    assert_eq!(response.usage, TokenUsage::default());
    assert_eq!(response.cost_nano_usd, None);
    assert_eq!(response.attempts.len(), 1);
    assert_eq!(response.attempts[0].metering, Metering::Unavailable);
}

#[derive(Default)]
struct Seen(Mutex<String>);

impl DeltaSink for Seen {
    fn delta(&self, delta: ModelDelta<'_>) {
        if let ModelDelta::Text(text) = delta {
            self.0.lock().unwrap().push_str(text);
        }
    }
}

#[tokio::test]
async fn deltas_add_up_to_the_answer() {
    let (seen, request) = (Seen::default(), request("sing", vec![]));
    let response = OfflineModel.invoke_streaming(&operation(), request, &seen).await.unwrap();
    let ModelContent::Text { text } = &response.output[0] else { panic!() };
    assert_eq!(*seen.0.lock().unwrap(), *text);
}

#[tokio::test]
async fn another_model_is_not_found_and_a_call_that_ended_does_nothing() {
    let failure = OfflineModel.profile(&operation(), "gpt").await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    let cancelled = operation();
    cancelled.cancellation.cancel();
    let failure = OfflineModel.invoke(&cancelled, request("sing", vec![])).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Canceled);
    let late = operation().within(Duration::ZERO);
    let failure = OfflineModel.invoke(&late, request("sing", vec![])).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Timeout);
    let mut other = request("sing", vec![]);
    other.model = "gpt".into();
    let failure = OfflineModel.invoke(&operation(), other).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::NotFound);
}
