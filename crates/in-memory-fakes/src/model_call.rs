//! Decides what is remembered of a call to the model, and how it ended.
//!
//! Knows nothing about scripts. Invariant: a call that its caller dropped is told apart from one
//! that is still in flight.

use runtime_ports::{ModelRequest, ModelResponse, OperationContext, PortFailure};
use runtime_types::OperationId;

use crate::Recorder;

/// One call that [`FakeModel`](crate::FakeModel) got.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// The operation of the call.
    pub operation_id: OperationId,
    /// The request; its transcript and tools are shared, not copied.
    pub request: ModelRequest,
    /// Whether it was streamed.
    pub streamed: bool,
    /// Whether the request left the caller's process.
    pub sent: bool,
    /// How the call ended.
    pub end: ModelCallEnd,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelCallEnd {
    /// Not yet.
    InFlight,
    /// With an answer.
    Answered,
    /// With a failure, which has the commit disposition.
    Failed(PortFailure),
    /// Its caller dropped it.
    Dropped,
}

/// The open entry of a call. Dropping it without an end means that the caller went away.
pub(crate) struct OpenCall {
    calls: Recorder<ModelCall>,
    position: usize,
}

impl OpenCall {
    pub(crate) fn record(
        calls: &Recorder<ModelCall>,
        operation: &OperationContext,
        request: &ModelRequest,
        streamed: bool,
    ) -> Self {
        let position = calls.record(ModelCall {
            operation_id: operation.id.clone(),
            request: request.clone(),
            streamed,
            sent: false,
            end: ModelCallEnd::InFlight,
        });
        Self { calls: calls.clone(), position }
    }

    pub(crate) fn sent(&self) {
        self.calls.amend(self.position, |call| call.sent = true);
    }

    pub(crate) fn ended(&self, outcome: &Result<ModelResponse, PortFailure>) {
        let end = match outcome {
            Ok(_) => ModelCallEnd::Answered,
            Err(failure) => ModelCallEnd::Failed(failure.clone()),
        };
        self.calls.amend(self.position, |call| call.end = end);
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.calls.amend(self.position, |call| {
            if call.end == ModelCallEnd::InFlight {
                call.end = ModelCallEnd::Dropped;
            }
        });
    }
}
