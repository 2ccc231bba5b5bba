//! One question as a session; only the lines that build the adapter differ between these programs.

use std::sync::Arc;

use runtime_kernel::{AgentRuntime, SessionRunRequest};
use runtime_ports::Intelligence;
use system_tests::OneQuestion;
use uuid::Uuid;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The adapter:
    let script = in_memory_fakes::TurnScript::new().complete("42");
    let fake = in_memory_fakes::FakeIntelligence::new([script]);
    let (intelligence, model): (Arc<dyn Intelligence>, _) = (Arc::new(fake), "fake-model");

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
