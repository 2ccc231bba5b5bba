//! Decides how models, tools and clocks behave that many children share.

use std::sync::OnceLock;

use async_trait::async_trait;
use in_memory_fakes::FakeTool;
use runtime_kernel::engine::Clock;
use runtime_ports::{
    DeltaSink, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse, ModelRole,
    ModelSession, OperationContext, PortFailure, TokenUsage, Tool, ToolDescriptor, ToolInvocation,
    ToolReply, ToolWorld,
};
use serde_json::json;

/// A model that calls the tool `work` in every cycle but the last, whoever asks.
pub(crate) struct CountingModel {
    cycles: u32,
}

impl CountingModel {
    pub(crate) const fn new(cycles: u32) -> Self {
        Self { cycles }
    }
}

#[async_trait]
impl ModelSession for CountingModel {
    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        Ok(ModelProfile {
            context_window_tokens: 1_000_000,
            max_input_tokens: 1_000_000,
            max_output_tokens: None,
            images: false,
            price: None,
        })
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        tokio::task::yield_now().await;
        let answers = request.messages.messages().filter(|it| it.role == ModelRole::Assistant);
        let cycle = 1 + u32::try_from(answers.count()).expect("few");
        let (content, finish) = match cycle < self.cycles {
            true => {
                let (id, name) = (format!("w{cycle}"), "work".to_owned());
                let call = ModelContent::ToolUse { id, name, arguments: json!({}) };
                (call, ModelFinish::ToolCalls)
            }
            false => (ModelContent::text("done"), ModelFinish::Stop),
        };
        Ok(ModelResponse {
            output: vec![content],
            finish,
            usage: TokenUsage::default(),
            cost_nano_usd: None,
            attempts: Vec::new(),
        })
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        _: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.invoke(operation, request).await
    }
}

/// A model that gives two tasks to be done in the background and one to be waited for, and has
/// nothing more to say then.
pub(crate) struct Foreman;

#[async_trait]
impl ModelSession for Foreman {
    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        CountingModel::new(0).profile(operation, model).await
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        let order = |agent: &str| json!({ "agent_name": agent, "task_description": "do it" });
        let said = request.messages.messages().filter(|it| it.role == ModelRole::Assistant);
        let (name, arguments) = match said.count() {
            0 => {
                let tasks = [order("a"), order("b")];
                ("create_sub_task_batch", json!({ "tasks": tasks, "background": true }))
            }
            1 => ("create_sub_task", order("c")),
            _ => {
                let answer = CountingModel::new(0).invoke(operation, request).await?;
                return Ok(ModelResponse {
                    output: vec![ModelContent::text("all done")],
                    ..answer
                });
            }
        };
        let (id, name) = (format!("of {name}"), name.to_owned());
        let answer = CountingModel::new(0).invoke(operation, request).await?;
        let call = ModelContent::ToolUse { id, name, arguments };
        Ok(ModelResponse { output: vec![call], finish: ModelFinish::ToolCalls, ..answer })
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        _: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.invoke(operation, request).await
    }
}

/// A tool that always replies.
pub(crate) struct Always(ToolDescriptor);

impl Always {
    pub(crate) fn new(name: &str) -> Self {
        Self(FakeTool::default_descriptor(name))
    }
}

#[async_trait]
impl Tool for Always {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.0
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: &ToolWorld,
        _: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        Ok(ToolReply::text("ok"))
    }
}

/// A clock that breaks down in every task but the first that looks at it.
#[derive(Default)]
pub(crate) struct OneTaskClock(OnceLock<tokio::task::Id>);

impl Clock for OneTaskClock {
    fn unix_ms(&self) -> u64 {
        let here = tokio::task::try_id().expect("a task");
        assert_eq!(*self.0.get_or_init(|| here), here, "SECRET of the clock");
        1
    }
}
