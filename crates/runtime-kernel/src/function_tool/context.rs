//! Decides what a function gets beside its arguments.
//!
//! Knows nothing about the function. All of it is the call's own, so that it can be moved into work
//! of any length.

use std::sync::Arc;

use runtime_ports::{OperationContext, ToolInvocation, ToolWorld};
use serde_json::{Map, Value};

/// The frame of one call. Cheap to clone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// Deadline and cancellation of the call; goes into every call of a port.
    pub operation: OperationContext,
    /// The ports.
    pub world: ToolWorld,
    /// Identity of the call within its run.
    pub call_id: Arc<str>,
    /// The same when the same call is made again.
    pub idempotency_key: Arc<str>,
    /// The run's shared state as it was when the call's group began. Changes of it are the
    /// `state_writes` of a [`ToolReply`](runtime_ports::ToolReply).
    pub shared_state: Arc<Map<String, Value>>,
    /// What the host said about the run and the task; never configuration of the tool.
    pub metadata: Arc<Map<String, Value>>,
    /// The cycle or round that the call belongs to, from 1.
    pub cycle: u32,
}

impl ToolContext {
    pub(super) fn of(
        operation: &OperationContext,
        world: &ToolWorld,
        call: &ToolInvocation,
    ) -> Self {
        Self {
            operation: operation.clone(),
            world: world.clone(),
            call_id: Arc::clone(&call.call_id),
            idempotency_key: Arc::clone(&call.idempotency_key),
            shared_state: Arc::clone(&call.shared_state),
            metadata: Arc::clone(&call.metadata),
            cycle: call.cycle,
        }
    }
}
