//! Decides how the code of others misbehaves, and where.
//!
//! Knows every port and callback that a run calls. Invariant: everywhere else it behaves.

use async_trait::async_trait;
use in_memory_fakes::FakeModel;
use runtime_kernel::engine::{
    ApprovalProvider, ApprovalRequest, Call, CallEdits, CallResult, CallbackError,
    CycleInputProvider, CycleView, Edit, Hook, HookContext, HookDeclaration, HookPoint,
    InterruptionProvider, ProviderDecision, RequestEdits, ResultEdits, RunContext,
};
use runtime_ports::{
    ApprovalDecision, ArtifactDigest, ArtifactStore, InteractionRequest, InteractionResponse,
    InteractionSession, ModelContent, ModelMessage, ModelProfile, ModelRequest, ModelResponse,
    ModelSession, OperationContext, PortFailure, PortFailureKind, ToolSet, TraceSession,
    Transcript,
};

use crate::probe::Grudge;

/// Where it misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Profile,
    Model,
    Hook(HookPoint),
    CycleInputs,
    Interruptions,
    Provider,
    Prepare,
    Wait,
    Trace,
    Artifacts,
    Prompt,
}

/// How it misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Never ends, whatever it is told.
    Hangs,
    Panics,
    /// Never ends, and panics when it is dropped.
    DropsBadly,
}

/// Code of somebody else.
#[derive(Clone)]
pub(crate) struct Rogue {
    pub(crate) place: Place,
    pub(crate) way: Way,
    pub(crate) model: FakeModel,
}

impl Rogue {
    async fn at(&self, place: Place) {
        if self.place != place {
            return;
        }
        match self.way {
            Way::Hangs => std::future::pending().await,
            Way::Panics => panic!("SECRET of {place:?}"),
            Way::DropsBadly => {
                let _grudge = Grudge;
                std::future::pending().await
            }
        }
    }

    pub(crate) fn prompt(&self, request: &ApprovalRequest) -> String {
        assert!(self.place != Place::Prompt, "SECRET of the prompt");
        request.preview.to_string()
    }
}

#[async_trait]
impl ModelSession for Rogue {
    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        self.at(Place::Profile).await;
        self.model.profile(operation, model).await
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        self.at(Place::Model).await;
        self.model.invoke(operation, request).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn runtime_ports::DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.model.invoke_streaming(operation, request, sink).await
    }
}

#[async_trait]
impl Hook for Rogue {
    fn declaration(&self) -> HookDeclaration {
        let points = match self.place {
            Place::Hook(point) => vec![point],
            _ => Vec::new(),
        };
        HookDeclaration { name: "rogue".into(), points, repeatable: true }
    }

    async fn before_memory_compact(
        &self,
        _: &HookContext,
        _: &Transcript,
    ) -> Result<Vec<Edit<ModelMessage>>, CallbackError> {
        self.at(Place::Hook(HookPoint::BeforeMemoryCompact)).await;
        Ok(Vec::new())
    }

    async fn before_llm(
        &self,
        _: &HookContext,
        _: &Transcript,
        _: &ToolSet,
    ) -> Result<RequestEdits, CallbackError> {
        self.at(Place::Hook(HookPoint::BeforeLlm)).await;
        Ok(RequestEdits::default())
    }

    async fn after_llm(
        &self,
        _: &HookContext,
        _: &ModelResponse,
    ) -> Result<Vec<Edit<ModelContent>>, CallbackError> {
        self.at(Place::Hook(HookPoint::AfterLlm)).await;
        Ok(Vec::new())
    }

    async fn before_tool_call(
        &self,
        _: &HookContext,
        _: &Call,
    ) -> Result<CallEdits, CallbackError> {
        self.at(Place::Hook(HookPoint::BeforeToolCall)).await;
        Ok(CallEdits::default())
    }

    async fn after_tool_call(
        &self,
        _: &HookContext,
        _: &Call,
        _: &CallResult,
    ) -> Result<ResultEdits, CallbackError> {
        self.at(Place::Hook(HookPoint::AfterToolCall)).await;
        Ok(ResultEdits::default())
    }
}

#[async_trait]
impl CycleInputProvider for Rogue {
    async fn messages(
        &self,
        _: &RunContext,
        _: &CycleView,
    ) -> Result<Vec<ModelMessage>, CallbackError> {
        self.at(Place::CycleInputs).await;
        Ok(Vec::new())
    }
}

#[async_trait]
impl InterruptionProvider for Rogue {
    async fn messages(
        &self,
        _: &RunContext,
        _: &CycleView,
    ) -> Result<Vec<ModelMessage>, CallbackError> {
        self.at(Place::Interruptions).await;
        Ok(Vec::new())
    }
}

#[async_trait]
impl ApprovalProvider for Rogue {
    async fn decide(
        &self,
        _: &RunContext,
        _: &ApprovalRequest,
    ) -> Result<ProviderDecision, CallbackError> {
        self.at(Place::Provider).await;
        Ok(ProviderDecision::NeedsApproval)
    }
}

#[async_trait]
impl InteractionSession for Rogue {
    async fn prepare(
        &self,
        _: &OperationContext,
        _: InteractionRequest,
    ) -> Result<(), PortFailure> {
        self.at(Place::Prepare).await;
        Ok(())
    }

    async fn wait(
        &self,
        _: &OperationContext,
        _: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        self.at(Place::Wait).await;
        Ok(InteractionResponse::decision(ApprovalDecision::Approved))
    }
}

#[async_trait]
impl TraceSession for Rogue {
    async fn append(
        &self,
        _: &OperationContext,
        _: &str,
        _: serde_json::Value,
    ) -> Result<(), PortFailure> {
        self.at(Place::Trace).await;
        Ok(())
    }
}

#[async_trait]
impl ArtifactStore for Rogue {
    async fn put(&self, _: &OperationContext, _: &[u8]) -> Result<ArtifactDigest, PortFailure> {
        self.at(Place::Artifacts).await;
        Err(PortFailure::not_sent(PortFailureKind::Unavailable, "FULL", "the disk is full"))
    }

    async fn read(
        &self,
        _: &OperationContext,
        _: &ArtifactDigest,
        _: std::ops::Range<u64>,
    ) -> Result<Vec<u8>, PortFailure> {
        panic!("nobody reads")
    }
}
