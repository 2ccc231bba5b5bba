//! One question as a session; only the lines that build the adapter differ between these programs.

use std::sync::Arc;

use runtime_kernel::{AgentRuntime, SessionRunRequest};
use runtime_ports::Intelligence;
use system_tests::OneQuestion;
use uuid::Uuid;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The adapter:
    let server = system_tests::ChatServer::answering("42").await?;
    let window = runtime_ports::ModelProfile {
        context_window_tokens: 8_192,
        max_input_tokens: 8_192,
        max_output_tokens: None,
        images: false,
        price: None,
    };
    let session = openai_adapter::OpenAiSession::builder(server.base_url())
        .profile("my-model", window)
        .build()?;
    let router = router_adapter::Router::single(Arc::new(session), "my-model");
    let (intelligence, model): (Arc<dyn Intelligence>, _) = (Arc::new(router), "my-model");

    // The program:
    let mut host = OneQuestion::new(model, "What is six times seven?");
    let request = SessionRunRequest {
        user_id: "ada".to_owned(),
        operation_id: Uuid::new_v4(),
        rounds_used: 0,
        round_limit: 5,
    };
    let answer = AgentRuntime::new(intelligence).run_session(request, &mut host).await?;
    assert_eq!(answer.as_deref(), Some("42"));
    assert_eq!(host.receipts.len(), 1);
    Ok(())
}
