//! A model session that does what a closure says, the contract notwithstanding.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use runtime_ports::{
    DeltaSink, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, TokenUsage,
};
use serde_json::Value;

pub(crate) type Answer = Result<ModelResponse, PortFailure>;
pub(crate) type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

struct Rogue<F> {
    conduct: F,
    calls: AtomicU32,
}

/// `conduct` says what happens in the nth call, from 1.
pub(crate) fn rogue<F>(conduct: F) -> Arc<dyn ModelSession>
where
    F: for<'a> Fn(u32, &'a OperationContext, &'a dyn DeltaSink) -> Answering<'a>
        + Send
        + Sync
        + 'static,
{
    Arc::new(Rogue { conduct, calls: AtomicU32::new(0) })
}

#[async_trait]
impl<F> ModelSession for Rogue<F>
where
    F: for<'a> Fn(u32, &'a OperationContext, &'a dyn DeltaSink) -> Answering<'a> + Send + Sync,
{
    async fn invoke(&self, operation: &OperationContext, request: ModelRequest) -> Answer {
        self.invoke_streaming(operation, request, &Nobody).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        _: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Answer {
        let nth = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        (self.conduct)(nth, operation, sink).await
    }

    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        Ok(profile())
    }
}

struct Nobody;

impl DeltaSink for Nobody {
    fn delta(&self, _: runtime_ports::ModelDelta<'_>) {}
}

pub(crate) fn profile() -> ModelProfile {
    ModelProfile {
        context_window_tokens: 128_000,
        max_input_tokens: 120_000,
        max_output_tokens: None,
        images: false,
        price: None,
    }
}

pub(crate) fn answering(output: Vec<ModelContent>) -> ModelResponse {
    let calls = output.iter().any(|content| matches!(content, ModelContent::ToolUse { .. }));
    ModelResponse {
        output,
        finish: if calls { ModelFinish::ToolCalls } else { ModelFinish::Stop },
        usage: TokenUsage::default(),
        cost_nano_usd: None,
        attempts: Vec::new(),
    }
}

pub(crate) fn saying(text: &str) -> ModelResponse {
    answering(vec![ModelContent::text(text)])
}

pub(crate) fn calling(id: &str, arguments: Value) -> ModelContent {
    ModelContent::ToolUse { id: id.into(), name: "read".into(), arguments }
}
