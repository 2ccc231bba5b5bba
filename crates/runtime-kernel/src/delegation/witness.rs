//! Decides what is learnt of a single-turn run from what its host is told.
//!
//! Knows nothing about the host that it stands before. Invariant: the host is told everything, in
//! the same order.

use runtime_ports::TurnEnd;
use serde_json::Value;
use uuid::Uuid;

use crate::{AuditEvent, ContextBudget, Host, HostFuture, ToolCall, ToolOutcome};

/// A host, and whether a model turn of its run was answered.
pub(super) struct Witness {
    host: Box<dyn Host>,
    was_answered: bool,
}

impl Witness {
    pub(super) fn before(host: Box<dyn Host>) -> Self {
        Self { host, was_answered: false }
    }

    pub(super) const fn was_answered(&self) -> bool {
        self.was_answered
    }

    fn note(&mut self, event: &AuditEvent) {
        match event {
            AuditEvent::ToolCall { .. } => self.was_answered = true,
            AuditEvent::ProviderReceipt { receipt, .. } => {
                let mut requests = receipt.requests.iter();
                self.was_answered |= requests.any(|request| request.end == TurnEnd::Completed);
            }
            _ => {}
        }
    }
}

impl Host for Witness {
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
        self.host.render_tool_call(call)
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: ToolCall,
        operation_id: Uuid,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        self.host.execute_tool(call, operation_id, budget)
    }

    fn complete_capture<'a>(
        &'a mut self,
        capture: Value,
        contents: String,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        self.host.complete_capture(capture, contents, budget)
    }

    fn record(&mut self, event: AuditEvent) -> anyhow::Result<()> {
        self.note(&event);
        self.host.record(event)
    }
}
