//! Decides whether a request is identified by what it asks, and an answer replayed as deltas.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use runtime_types::{ExecutionId, OperationId};
use serde_json::json;

use crate::{
    DeltaSink, GenerationOptions, ModelContent, ModelDelta, ModelFinish, ModelMessage,
    ModelProfile, ModelRequest, ModelResponse, ModelRole, ModelSession, ModelToolDefinition,
    OperationContext, PortFailure, TokenUsage, ToolSet, Transcript,
};

fn request() -> ModelRequest {
    ModelRequest {
        invocation_id: "inv".into(),
        model: "model".into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, "hello")]),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    }
}

#[test]
fn a_request_is_identified_by_what_it_asks_and_not_by_its_name() {
    let original = request().digest();
    let renamed = ModelRequest { invocation_id: "b".into(), model: "b".into(), ..request() };
    assert_eq!(renamed.digest(), original);

    let (name, description) = ("read".to_owned(), String::new());
    let tool = ModelToolDefinition { name, description, input_schema: json!({}) };
    let hot = GenerationOptions { temperature: Some(1.0), ..GenerationOptions::default() };
    let mut longer = request();
    longer.messages.push(ModelMessage::text(ModelRole::Assistant, "hi"));
    let changed = [
        longer,
        ModelRequest { tools: ToolSet::new(vec![tool]), ..request() },
        ModelRequest { max_output_tokens: Some(0), ..request() },
        ModelRequest { max_output_tokens: Some(u32::MAX), ..request() },
        ModelRequest { options: Arc::new(hot), ..request() },
    ];
    let mut digests: Vec<_> = changed.iter().map(ModelRequest::digest).collect();
    digests.push(original);
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 6);
}

#[test]
fn only_a_whole_answer_may_be_acted_on() {
    use ModelFinish::{ContentFilter, Length, Other, Stop, ToolCalls};
    let complete = [Stop, ToolCalls, Length, ContentFilter, Other].map(ModelFinish::is_complete);
    assert_eq!(complete, [true, true, false, false, false]);
}

/// Implements only what every session must.
struct Minimal(Vec<ModelContent>);

#[async_trait]
impl ModelSession for Minimal {
    async fn invoke(
        &self,
        _operation: &OperationContext,
        _request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        let usage = TokenUsage::default();
        let (output, finish, attempts) = (self.0.clone(), ModelFinish::Stop, Vec::new());
        Ok(ModelResponse { output, finish, usage, cost_nano_usd: None, attempts })
    }

    async fn profile(
        &self,
        _operation: &OperationContext,
        _model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        Err(PortFailure::canceled())
    }
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl DeltaSink for Log {
    fn delta(&self, delta: ModelDelta<'_>) {
        self.0.lock().unwrap().push(format!("{delta:?}"));
    }
}

#[tokio::test]
async fn a_session_without_streaming_gives_one_delta_for_each_item() {
    let call = |id: &str| ModelContent::ToolUse {
        id: id.into(),
        name: "read".into(),
        arguments: json!({ "b": 1, "a": 2 }),
    };
    let (issuer, text) = ("i".to_owned(), "hm".to_owned());
    let reasoning = ModelContent::Reasoning { issuer, text, opaque: json!(null) };
    let session = Minimal(vec![reasoning, ModelContent::text("so"), call("c1"), call("c2")]);
    let (id, execution) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    let operation = OperationContext::root(id, execution, std::time::Duration::from_secs(1));
    let log = Log::default();
    let answer = session.invoke_streaming(&operation, request(), &log).await.unwrap();
    assert_eq!(answer.output, session.0);
    let arguments = r#"fragment: "{\"a\":2,\"b\":1}""#;
    let expected = [
        r#"Reasoning("hm")"#.to_owned(),
        r#"Text("so")"#.to_owned(),
        r#"ToolCall { index: 0, id: "c1", name: "read" }"#.to_owned(),
        format!("ToolArguments {{ index: 0, {arguments} }}"),
        r#"ToolCall { index: 1, id: "c2", name: "read" }"#.to_owned(),
        format!("ToolArguments {{ index: 1, {arguments} }}"),
    ];
    assert_eq!(*log.0.lock().unwrap(), expected);
}
