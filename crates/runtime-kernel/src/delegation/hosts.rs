//! Decides how a set of tools is the host of a delegated single-turn run.
//!
//! Knows nothing about where its events are kept. Invariant: every call of a tool is part of the
//! operation that delegated the task.

use std::fmt;

use runtime_ports::OperationContext;
use serde_json::Value;
use uuid::Uuid;

use crate::{AuditEvent, ContextBudget, Host, HostFuture, ToolCall, ToolHost, ToolOutcome};

/// A [`Host`] that serves the tools of a [`ToolHost`] to one run, under one operation.
pub struct DelegateHost {
    operation: OperationContext,
    tools: ToolHost,
}

impl DelegateHost {
    /// Serves these tools under this operation.
    #[must_use]
    pub const fn new(operation: OperationContext, tools: ToolHost) -> Self {
        Self { operation, tools }
    }
}

impl Host for DelegateHost {
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
        Ok(format!("You called {} with {}", call.name, call.arguments))
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: ToolCall,
        _operation_id: Uuid,
        _budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        // One turn is one round.
        Box::pin(async move { Ok(self.tools.execute(&self.operation, call, 1).await.into()) })
    }

    /// No tool asks for a capture, so that the contents are the answer.
    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
        _budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async move { Ok(ToolOutcome::success(contents)) })
    }

    /// Keeps nothing: receipts are the intelligence's.
    fn record(&mut self, _event: AuditEvent) -> anyhow::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for DelegateHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DelegateHost").field("tools", &self.tools).finish_non_exhaustive()
    }
}
