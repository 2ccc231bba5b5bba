//! One question to an agent with a tool; only the lines that build the adapter differ between these programs.

use std::sync::Arc;

use runtime_kernel::{
    FunctionTool, ToolContext, ToolError,
    engine::{Agent, RunStatus, Task},
    schemars,
};
use runtime_ports::{EffectClass, ModelSession};

/// What the tool takes.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Product {
    factors: Vec<i64>,
}

async fn multiply(product: Product, _: ToolContext) -> Result<String, ToolError> {
    Ok(product.factors.iter().product::<i64>().to_string())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The adapter:
    let catalogue = router_adapter::Catalogue::parse(
        r#"
        [[models]]
        id = "large-1"
        aliases = ["large"]
        provider = "acme"
        provider_model = "fake-model"
        context_window_tokens = 100000
        max_input_tokens = 90000
        "#,
    )?;
    let fake = in_memory_fakes::FakeModel::new([in_memory_fakes::ModelStep::text("42")]);
    let router = router_adapter::Router::builder()
        .catalogue(catalogue)
        .provider("acme", Arc::new(fake))
        .start()
        .await?;
    let (session, model): (Arc<dyn ModelSession>, _) = (router.session("ada", None), "large");

    // The program:
    let multiply = FunctionTool::new("multiply", "Multiplies integers.", multiply);
    let agent = Agent::builder("calculator", session, model)
        .instructions("Answer with the number alone.")
        .tool(multiply.effect(EffectClass::ReadOnly).idempotent().parallel())
        .max_cycles(3)
        .build()?;
    let run = agent.start(Task::new("What is six times seven?"));
    let result = run.result().await?.finished()?;
    assert_eq!(result.status, RunStatus::Completed);
    assert_eq!(result.final_answer.as_deref(), Some("42"));
    Ok(())
}
