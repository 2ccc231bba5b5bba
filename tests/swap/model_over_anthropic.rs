//! One question as a model call; only the lines that build the adapter differ between these programs.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelRole, ModelSession,
    OperationContext, ToolSet,
};
use runtime_types::{ExecutionId, OperationId};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The adapter:
    let server = system_tests::ChatServer::streaming(&[
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"42"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ])
    .await?;
    let window = runtime_ports::ModelProfile {
        context_window_tokens: 8_192,
        max_input_tokens: 8_192,
        max_output_tokens: None,
        images: false,
        price: None,
    };
    let client = anthropic_adapter::AnthropicSession::builder(server.base_url())
        .profile("my-model", window)
        .build()?;
    let (session, model): (Arc<dyn ModelSession>, _) = (Arc::new(client), "my-model");

    // The program:
    let (id, run) = (OperationId::new("ask")?, ExecutionId::new("run-1")?);
    let operation = OperationContext::root(id, run, Duration::from_secs(60));
    let question = ModelMessage::text(ModelRole::User, "What is six times seven?");
    let request = ModelRequest {
        invocation_id: "ask-1".into(),
        model: model.into(),
        messages: vec![question].into(),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::new(GenerationOptions::default()),
    };
    let response = session.invoke(&operation, request).await?;
    assert_eq!(response.output, [ModelContent::text("42")]);
    Ok(())
}
