//! Decides nothing: a port that gives its thread back before and after each call.
//!
//! Knows the port behind it. With it, a run that is polled stops at every await.

use async_trait::async_trait;
use runtime_ports::{
    DeltaSink, InteractionRequest, InteractionResponse, InteractionSession, ModelProfile,
    ModelRequest, ModelResponse, ModelSession, OperationContext, PortFailure, TraceSession,
};
use serde_json::Value;
use tokio::task::yield_now;

pub(crate) struct Halting<P>(pub(crate) P);

async fn halting<T>(call: impl Future<Output = T>) -> T {
    yield_now().await;
    let answer = call.await;
    yield_now().await;
    answer
}

#[async_trait]
impl<P: ModelSession> ModelSession for Halting<P> {
    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        halting(self.0.profile(operation, model)).await
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        halting(self.0.invoke(operation, request)).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        halting(self.0.invoke_streaming(operation, request, sink)).await
    }
}

#[async_trait]
impl<P: InteractionSession> InteractionSession for Halting<P> {
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        halting(self.0.prepare(operation, request)).await
    }

    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        halting(self.0.wait(operation, request_id)).await
    }
}

#[async_trait]
impl<P: TraceSession> TraceSession for Halting<P> {
    async fn append(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        halting(self.0.append(operation, event_type, payload)).await
    }
}
