//! An intelligence that lets others run before and after each call, so that every call can be
//! dropped on either side of its effect.

use async_trait::async_trait;
use in_memory_fakes::FakeIntelligence;
use runtime_ports::{
    AgentContinuation, AgentTurn, AgentTurnEvent, Intelligence, PortFailure, ResolvedAgentModel,
    ToolResult, TurnFailure, TurnStart, UsageReceipt,
};
use tokio::task::yield_now;
use uuid::Uuid;

pub(crate) struct Yielding(pub(crate) FakeIntelligence);

struct YieldingTurn(Box<dyn AgentTurn>);

async fn between_yields<T>(call: impl Future<Output = T>) -> T {
    yield_now().await;
    let output = call.await;
    yield_now().await;
    output
}

#[async_trait]
impl Intelligence for Yielding {
    async fn resolve_agent_model(
        &self,
        requested: &str,
    ) -> Result<ResolvedAgentModel, PortFailure> {
        between_yields(self.0.resolve_agent_model(requested)).await
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        let turn = between_yields(self.0.start_agent_turn(start)).await?;
        Ok(Box::new(YieldingTurn(turn)))
    }

    async fn cancel(&self, operation_id: Uuid) -> Result<bool, PortFailure> {
        between_yields(self.0.cancel(operation_id)).await
    }
}

#[async_trait]
impl AgentTurn for YieldingTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        between_yields(self.0.next_event()).await
    }

    async fn respond(&mut self, call_id: &str, result: ToolResult) -> Result<(), PortFailure> {
        between_yields(self.0.respond(call_id, result)).await
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        between_yields(self.0.finish_unavailable()).await
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        self.0.receipt()
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        self.0.continuation()
    }
}
