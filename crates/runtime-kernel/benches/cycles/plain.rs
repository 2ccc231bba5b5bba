//! Decides what the engine is compared with: the loop that an engineer writes over the same ports.
//!
//! Knows no policy, no approval, no event, no deadline and no suspension.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use runtime_kernel::engine::closed_world;
use runtime_ports::{
    GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelRole, ModelSession,
    OperationContext, PortFailure, Tool, ToolInvocation, ToolSet, ToolWorld, Transcript,
};
use serde_json::{Map, Value};

/// What the loop needs.
pub(crate) struct Plain {
    model: Arc<dyn ModelSession>,
    tools: BTreeMap<String, Arc<dyn Tool>>,
    definitions: ToolSet,
    options: Arc<GenerationOptions>,
    nothing: Arc<Map<String, Value>>,
    world: ToolWorld,
    operation: OperationContext,
}

impl Plain {
    pub(crate) fn new(model: Arc<dyn ModelSession>, tools: Vec<Arc<dyn Tool>>) -> Self {
        let definition = |tool: &Arc<dyn Tool>| tool.descriptor().definition.clone();
        let named = |tool: Arc<dyn Tool>| (tool.descriptor().definition.name.clone(), tool);
        let id = "plain".parse().expect("an operation id");
        let execution = "plain".parse().expect("an execution id");
        Self {
            model,
            definitions: tools.iter().map(definition).collect(),
            tools: tools.into_iter().map(named).collect(),
            options: Arc::default(),
            nothing: Arc::default(),
            world: closed_world(),
            operation: OperationContext::root(id, execution, Duration::from_secs(3_600)),
        }
    }

    /// Asks the model and runs its calls until it makes none.
    pub(crate) async fn run(&self, model: &str, prompt: &str) -> Result<Transcript, PortFailure> {
        let model: Arc<str> = model.into();
        let mut history = Transcript::new();
        history.push(ModelMessage::text(ModelRole::User, prompt));
        for cycle in 1.. {
            let request = ModelRequest {
                invocation_id: format!("plain-{cycle}").into(),
                model: Arc::clone(&model),
                messages: history.clone(),
                tools: self.definitions.clone(),
                max_output_tokens: None,
                options: Arc::clone(&self.options),
            };
            let response = self.model.invoke(&self.operation, request).await?;
            let results = self.results(&response.output, cycle).await?;
            history.push(ModelMessage { role: ModelRole::Assistant, content: response.output });
            if results.is_empty() {
                break;
            }
            history.extend(results);
        }
        Ok(history)
    }

    async fn results(
        &self,
        output: &[ModelContent],
        cycle: u32,
    ) -> Result<Vec<ModelMessage>, PortFailure> {
        let mut results = Vec::new();
        for item in output {
            let ModelContent::ToolUse { id, name, arguments } = item else { continue };
            let call = ToolInvocation {
                call_id: id.as_str().into(),
                idempotency_key: id.as_str().into(),
                arguments: arguments.clone(),
                shared_state: Arc::clone(&self.nothing),
                metadata: Arc::clone(&self.nothing),
                cycle,
            };
            let reply = self.tools[name].invoke(&self.operation, &self.world, call).await?;
            let content = vec![ModelContent::ToolResult {
                tool_use_id: id.clone(),
                name: name.clone(),
                content: reply.content,
                failed: reply.error_code.is_some(),
            }];
            results.push(ModelMessage { role: ModelRole::Tool, content });
        }
        Ok(results)
    }
}
