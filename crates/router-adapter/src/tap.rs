//! Decides who else sees the events of a turn.
//!
//! Knows nothing about what is done with them, and changes none. An observer sees an event before the
//! host does, in order, each once.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    AgentContinuation, AgentTurn, AgentTurnEvent, Intelligence, PortFailure, ResolvedAgentModel,
    ToolResult, TurnFailure, TurnStart, UsageReceipt,
};
use uuid::Uuid;

/// Watches turns, for example to show their deltas on a terminal.
pub trait TurnObserver: Send + Sync {
    /// `turn` gave `event`. Must return quickly and must not panic: the turn waits for it.
    fn observed(&self, turn: Uuid, event: &AgentTurnEvent);
}

impl<F: Fn(Uuid, &AgentTurnEvent) + Send + Sync> TurnObserver for F {
    fn observed(&self, turn: Uuid, event: &AgentTurnEvent) {
        self(turn, event);
    }
}

/// An [`Intelligence`] that shows an observer every event of every turn, and is otherwise the one
/// that it wraps.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use in_memory_fakes::{FakeIntelligence, TurnScript};
/// use router_adapter::TappedIntelligence;
/// use runtime_ports::AgentTurnEvent;
/// use uuid::Uuid;
///
/// let inner = FakeIntelligence::new([TurnScript::new().complete("hello").optional()]);
/// let tapped = TappedIntelligence::new(Arc::new(inner), |_turn: Uuid, event: &AgentTurnEvent| {
///     if let AgentTurnEvent::TextDelta(text) = event {
///         eprint!("{text}");
///     }
/// });
/// # drop(tapped);
/// ```
#[derive(Clone)]
pub struct TappedIntelligence {
    inner: Arc<dyn Intelligence>,
    observer: Arc<dyn TurnObserver>,
}

struct TappedTurn {
    id: Uuid,
    inner: Box<dyn AgentTurn>,
    observer: Arc<dyn TurnObserver>,
}

impl TappedIntelligence {
    /// Taps `inner` for `observer`.
    pub fn new(inner: Arc<dyn Intelligence>, observer: impl TurnObserver + 'static) -> Self {
        Self { inner, observer: Arc::new(observer) }
    }
}

impl fmt::Debug for TappedIntelligence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TappedIntelligence").finish_non_exhaustive()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Intelligence for TappedIntelligence {
    async fn resolve_agent_model(
        &self,
        requested: &str,
    ) -> Result<ResolvedAgentModel, PortFailure> {
        self.inner.resolve_agent_model(requested).await
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        let id = start.operation_id;
        let inner = self.inner.start_agent_turn(start).await?;
        Ok(Box::new(TappedTurn { id, inner, observer: Arc::clone(&self.observer) }))
    }

    async fn cancel(&self, operation_id: Uuid) -> Result<bool, PortFailure> {
        self.inner.cancel(operation_id).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl AgentTurn for TappedTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        let event = self.inner.next_event().await?;
        if let Some(event) = &event {
            self.observer.observed(self.id, event);
        }
        Ok(event)
    }

    async fn respond(&mut self, call_id: &str, result: ToolResult) -> Result<(), PortFailure> {
        self.inner.respond(call_id, result).await
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        self.inner.finish_unavailable().await
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        self.inner.receipt()
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        self.inner.continuation()
    }
}
