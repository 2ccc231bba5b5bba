//! A turn that should never have started, and a receipt that nobody owed.
//!
//! Knows nothing about providers.

use async_trait::async_trait;
use runtime_ports::{
    AgentContinuation, AgentProvider, AgentTurn, AgentTurnEvent, Metering, PortFailure,
    PortFailureKind, ToolResult, TurnEnd, TurnFailure, TurnStart, UsageReceipt,
};

/// Says nothing and knows nothing.
pub(super) struct IdleTurn;

#[async_trait]
impl AgentTurn for IdleTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        Ok(None)
    }

    async fn respond(&mut self, _call_id: &str, _result: ToolResult) -> Result<(), PortFailure> {
        Ok(())
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        Err(PortFailure::new(PortFailureKind::Internal, "IDLE", "there is no receipt"))
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        None
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        None
    }
}

/// A receipt for a turn of which nothing is known.
pub(super) fn receipt(start: &TurnStart) -> UsageReceipt {
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: start.operation_id,
        parent_operation_id: start.parent_operation_id,
        user_id: start.user_id.clone(),
        requested_model: start.request.model.clone(),
        provider: AgentProvider::new("fake"),
        provider_model: start.request.model.clone(),
        thread_id: None,
        started_at_ms: 0,
        ended_at_ms: 0,
        end: TurnEnd::Failed,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: false,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}
