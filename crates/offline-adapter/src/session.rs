//! Decides how the rules answer as a model session.
//!
//! Knows the port; refuses to know any task. Invariant: usage is never reported, because nothing
//! here counts tokens.

use async_trait::async_trait;
use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelContent, ModelDelta, ModelFinish, ModelProfile, ModelRequest,
    ModelResponse, ModelSession, OperationContext, PortFailure, PortFailureKind, RequestMeter,
    TokenUsage, TurnEnd,
};
use serde_json::Value;

use crate::{answer, exchange::Situation, plan::next_step, step::Step, toolbox::Toolbox};

/// The one model that [`OfflineModel`] serves.
pub const OFFLINE_MODEL: &str = "offline";

/// The rules have no context window of their own; this is what a host may plan with.
const WINDOW_TOKENS: u64 = 1_000_000;

/// The rule-based model. It keeps no state: every step follows from the request alone.
///
/// ```
/// # use std::{sync::Arc, time::Duration};
/// # use offline_adapter::{OFFLINE_MODEL, OfflineModel};
/// # use runtime_ports::{
/// #     GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelRole, ModelSession,
/// #     OperationContext, ToolSet,
/// # };
/// # use runtime_types::{ExecutionId, OperationId};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let operation = OperationContext::root(
///     OperationId::new("op").unwrap(),
///     ExecutionId::new("run").unwrap(),
///     Duration::from_secs(1),
/// );
/// let request = ModelRequest {
///     invocation_id: "i-1".into(),
///     model: OFFLINE_MODEL.into(),
///     messages: vec![ModelMessage::text(ModelRole::User, "sing me a song")].into(),
///     tools: ToolSet::default(),
///     max_output_tokens: None,
///     options: Arc::new(GenerationOptions::default()),
/// };
/// let response = OfflineModel::new().invoke(&operation, request).await.unwrap();
/// let ModelContent::Text { text } = &response.output[0] else { panic!() };
/// assert!(text.starts_with("The offline model does not understand this task."));
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

impl OfflineModel {
    /// The model.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

#[async_trait]
impl ModelSession for OfflineModel {
    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        self.invoke_streaming(operation, request, &DiscardDeltas).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        operation.remaining()?;
        serves(&request.model)?;
        let response = respond(&request);
        stream(&response.output, sink);
        Ok(response)
    }

    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        operation.remaining()?;
        serves(model)?;
        Ok(ModelProfile {
            context_window_tokens: WINDOW_TOKENS,
            max_input_tokens: WINDOW_TOKENS,
            max_output_tokens: None,
            images: false,
            price: None,
        })
    }
}

fn serves(model: &str) -> Result<(), PortFailure> {
    if model == OFFLINE_MODEL {
        return Ok(());
    }
    let message = format!("the offline adapter serves only the model {OFFLINE_MODEL}");
    Err(PortFailure::not_sent(PortFailureKind::NotFound, "UNKNOWN_MODEL", message))
}

fn respond(request: &ModelRequest) -> ModelResponse {
    let situation = Situation::of(&request.messages);
    let toolbox = Toolbox::of(&request.tools);
    match next_step(&situation) {
        Step::Answer(text) => answered(&text),
        Step::Calls(calls) => match calls.iter().find(|(tool, _)| !toolbox.offers(tool)) {
            Some((tool, _)) => answered(&answer::tool_missing(tool)),
            None => called(calls, &toolbox, situation.calls_so_far),
        },
    }
}

fn answered(text: &str) -> ModelResponse {
    let text = format!("{text}\n\n{}", answer::SIGNATURE);
    response(vec![ModelContent::Text { text }], ModelFinish::Stop)
}

fn called(calls: Vec<(&'static str, Value)>, toolbox: &Toolbox, first: usize) -> ModelResponse {
    let numbered = calls.into_iter().enumerate().map(|(position, (tool, arguments))| {
        toolbox.call(format!("offline-{}", first + position + 1), tool, arguments)
    });
    response(numbered.collect(), ModelFinish::ToolCalls)
}

fn response(output: Vec<ModelContent>, finish: ModelFinish) -> ModelResponse {
    let attempts = vec![RequestMeter::unreported(TurnEnd::Completed)];
    let usage = TokenUsage::default();
    ModelResponse { output, finish, usage, cost_nano_usd: None, attempts }
}

/// Streams text line by line and each call as its head and its arguments.
fn stream(output: &[ModelContent], sink: &dyn DeltaSink) {
    let mut index = 0;
    for content in output {
        match content {
            ModelContent::Text { text } => {
                text.split_inclusive('\n').for_each(|line| sink.delta(ModelDelta::Text(line)));
            }
            ModelContent::ToolUse { id, name, arguments } => {
                sink.delta(ModelDelta::ToolCall { index, id, name });
                let fragment = arguments.to_string();
                sink.delta(ModelDelta::ToolArguments { index, fragment: &fragment });
                index += 1;
            }
            _ => {}
        }
    }
}
