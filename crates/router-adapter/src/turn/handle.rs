//! Decides what a host may do with its turn, and when.
//!
//! Knows nothing about how the turn is run. Invariant: dropping the handle only tells the owner that
//! nobody waits any more; it accounts for nothing itself.

use async_trait::async_trait;
use runtime_ports::{
    AgentContinuation, AgentTurn, AgentTurnEvent, PortFailure, PortFailureKind, ToolResult,
    TurnFailure, UsageReceipt,
};

use super::{HandleEnd, Outcome};
use crate::account::Settlement;

/// The host's half of a turn.
pub(crate) struct RouterTurn {
    end: HandleEnd,
    open_call: Option<String>,
    ended: Option<Ended>,
}

/// What is known once the owner has told its outcome.
struct Ended {
    settlement: Option<Settlement>,
    continuation: Option<AgentContinuation>,
    /// The last event or the failure, until it was given.
    last_words: Option<Result<AgentTurnEvent, PortFailure>>,
}

impl RouterTurn {
    pub(super) const fn new(end: HandleEnd) -> Self {
        Self { end, open_call: None, ended: None }
    }

    /// Waits for the outcome, once. Cancel-safe.
    async fn ended(&mut self) -> &mut Ended {
        if self.ended.is_none() {
            let outcome = (&mut self.end.outcome).await;
            self.ended = Some(outcome.map_or_else(|_| Ended::ownerless(), Ended::of));
        }
        self.ended.get_or_insert_with(Ended::ownerless)
    }

    async fn last_words(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        let ended = self.ended().await;
        match ended.last_words.take() {
            None => Ok(None),
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(failure)) => {
                let receipt = ended.settlement.as_ref().map(|settled| settled.receipt.clone());
                Err(TurnFailure { failure, receipt: receipt.map(Box::new) })
            }
        }
    }

    /// Whether an answer would come too late.
    fn is_over(&self) -> bool {
        self.ended.is_some() || self.end.cancelled.is_cancelled() || self.end.answers.is_closed()
    }
}

impl Ended {
    fn of(outcome: Outcome) -> Self {
        let settlement = Some(outcome.settlement);
        let (continuation, last_words) = match outcome.conclusion {
            Ok(completion) => (completion.continuation, Ok(completion.event)),
            Err(failure) => (None, Err(failure)),
        };
        Self { settlement, continuation, last_words: Some(last_words) }
    }

    /// The owner is gone without a word: it panicked, or its runtime was shut down.
    fn ownerless() -> Self {
        Self { settlement: None, continuation: None, last_words: Some(Err(owner_lost())) }
    }
}

#[async_trait]
impl AgentTurn for RouterTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        if self.ended.is_some() {
            return self.last_words().await;
        }
        if self.open_call.is_some() && !self.is_over() {
            return Err(TurnFailure::refused(call_is_open()));
        }
        while let Some(event) = self.end.events.next().await {
            if let AgentTurnEvent::ToolCall { call_id, .. } = &event {
                if self.end.cancelled.is_cancelled() {
                    // Whoever cancelled was told that nothing runs any more.
                    continue;
                }
                self.open_call = Some(call_id.clone());
            }
            return Ok(Some(event));
        }
        self.last_words().await
    }

    async fn respond(&mut self, call_id: &str, result: ToolResult) -> Result<(), PortFailure> {
        if self.open_call.as_deref() != Some(call_id) {
            return Err(no_such_call());
        }
        if self.is_over() {
            return Err(turn_is_over());
        }
        // One call is open at a time, so there is room unless the turn ended just now.
        self.end.answers.try_send(result).map_err(|_| turn_is_over())?;
        self.open_call = None;
        Ok(())
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        self.end.given_up.cancel();
        self.open_call = None;
        let ended = self.ended().await;
        ended.last_words = None;
        match &ended.settlement {
            None => Err(owner_lost()),
            Some(Settlement { stored: Err(failure), .. }) => Err(failure.clone()),
            Some(Settlement { receipt, stored: Ok(()) }) => Ok(receipt.clone()),
        }
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        let settlement = self.ended.as_ref()?.settlement.as_ref()?;
        Some(&settlement.receipt)
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        self.ended.as_ref()?.continuation.as_ref()
    }
}

impl Drop for RouterTurn {
    fn drop(&mut self) {
        self.end.given_up.cancel();
    }
}

fn call_is_open() -> PortFailure {
    let message = "a call waits for its answer; respond to it first";
    PortFailure::not_sent(PortFailureKind::Conflict, "call_open", message)
}

fn no_such_call() -> PortFailure {
    let message = "no call of this id waits for an answer";
    PortFailure::not_sent(PortFailureKind::Conflict, "call_not_open", message)
}

fn turn_is_over() -> PortFailure {
    let message = "the turn is over, the answer was not sent; ask for the next event";
    PortFailure::not_sent(PortFailureKind::Canceled, "turn_over", message)
}

/// The failure of a turn whose owner task ended without a word.
pub(crate) fn owner_lost() -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Internal,
        "turn_owner_lost",
        "the task that owned the turn is gone; its receipt is settled at the next start",
    )
}
