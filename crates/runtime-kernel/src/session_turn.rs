//! Decides how one started turn of a session is led to its end, and that its receipt is recorded.
//!
//! Knows nothing about the rounds before and after. Invariant: whichever way a started turn is
//! left, exactly one `ProviderReceipt` is given to the host, before anything else escapes.

use anyhow::anyhow;
use runtime_ports::{
    AgentContinuation, AgentTurn, AgentTurnEvent, TokenUsage, ToolResult, UsageReceipt,
};
use serde_json::Value;
use tracing::debug;
use uuid::Uuid;

use crate::{
    AccountingError, ProviderResume, RoundCompletion, SessionControl, SessionEvent, SessionHost,
    SessionToolOutcome,
    breakage::{Breakage, receipt_of},
    bridge,
};

/// A turn that runs, and what this round has come to so far.
pub(crate) struct SessionTurn<'a, H> {
    turn: Box<dyn AgentTurn>,
    turn_id: Uuid,
    round: u64,
    host: &'a mut H,
    /// The latest that the turn reported itself.
    usage: Option<TokenUsage>,
    facts: RoundFacts,
}

/// The facts of one round that its completion reports.
#[derive(Default)]
struct RoundFacts {
    tool_calls: u64,
    finish_requested: bool,
    emitted_response: bool,
    capture: Option<Value>,
}

/// How a turn was left in good order.
enum Departure {
    /// The provider gave its final answer.
    Answered(String),
    /// The host ended the turn early; the session goes on like this.
    Left(SessionControl),
}

impl<'a, H: SessionHost> SessionTurn<'a, H> {
    pub(crate) fn new(
        turn: Box<dyn AgentTurn>,
        turn_id: Uuid,
        round: u64,
        host: &'a mut H,
    ) -> Self {
        Self { turn, turn_id, round, host, usage: None, facts: RoundFacts::default() }
    }

    /// Leads the turn to its end, records its receipt, and asks the host how to go on.
    pub(crate) async fn play(mut self) -> anyhow::Result<SessionControl> {
        match self.converse().await {
            Ok(Departure::Answered(answer)) => {
                self.account_completed().await?;
                self.conclude(answer).await
            }
            Ok(Departure::Left(control)) => {
                self.account_interrupted().await?;
                Ok(control)
            }
            Err(breakage) => Err(self.account_broken(breakage).await),
        }
    }

    async fn converse(&mut self) -> Result<Departure, Breakage> {
        let round = self.round;
        while let Some(event) = self.turn.next_event().await? {
            match event {
                AgentTurnEvent::ModelContextSubmitted(context) => {
                    self.host.record(SessionEvent::ProviderInput { round, context }).await?;
                }
                AgentTurnEvent::UsageUpdated(usage) => {
                    self.usage = Some(usage);
                    self.host.record(SessionEvent::UsageUpdated { round, usage }).await?;
                }
                AgentTurnEvent::ToolCall { call_id, tool, arguments } => {
                    if let Some(control) = self.serve_call(&call_id, &tool, arguments).await? {
                        return Ok(Departure::Left(control));
                    }
                }
                AgentTurnEvent::Completed { answer, usage, .. } => {
                    self.usage = usage.or(self.usage);
                    return Ok(Departure::Answered(answer));
                }
                // Diagnosis and display are not this boundary's: a decorator of the intelligence
                // may watch them.
                AgentTurnEvent::TransportInput(_)
                | AgentTurnEvent::TextDelta(_)
                | AgentTurnEvent::ReasoningDelta(_) => {}
            }
        }
        Err(anyhow!("the provider ended its turn without a terminal event; try again").into())
    }

    /// Serves one call; gives how the session goes on when the turn is to be left.
    async fn serve_call(
        &mut self,
        call_id: &str,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<Option<SessionControl>> {
        self.facts.tool_calls += 1;
        let call = bridge::parse(tool, arguments).map_err(anyhow::Error::new);
        let outcome = self.host.execute_tool(call, self.turn_id).await?;
        match self.host.prepare_provider_resume(outcome).await? {
            ProviderResume::Continue(outcome) => self.answer(call_id, outcome).await,
            ProviderResume::Complete(answer) => Ok(Some(SessionControl::Complete(answer))),
            ProviderResume::RestartFresh => Ok(Some(SessionControl::Continue)),
        }
    }

    async fn answer(
        &mut self,
        call_id: &str,
        outcome: SessionToolOutcome,
    ) -> anyhow::Result<Option<SessionControl>> {
        let (ok, text) = (outcome.ok, outcome.text);
        self.turn.respond(call_id, ToolResult { success: ok, text }).await?;
        self.facts.finish_requested |= ok && outcome.finish_after_round;
        self.facts.emitted_response |= ok && outcome.emitted_response;
        self.facts.capture = outcome.capture.filter(|_| ok);
        Ok(outcome.stop.then_some(SessionControl::Complete(None)))
    }

    async fn account_completed(&mut self) -> anyhow::Result<()> {
        let receipt = receipt_of(self.turn.as_mut()).await?;
        let continuation = self.turn.continuation().cloned();
        self.record_receipt(receipt, continuation).await
    }

    async fn account_interrupted(&mut self) -> anyhow::Result<()> {
        let receipt = self.turn.finish_unavailable().await?;
        self.record_receipt(Box::new(receipt), None).await
    }

    async fn account_broken(&mut self, breakage: Breakage) -> anyhow::Error {
        let accounted = match breakage.receipt {
            Some(receipt) => self.record_receipt(receipt, None).await,
            None => self.account_interrupted().await,
        };
        match accounted {
            Ok(()) => breakage.error,
            Err(accounting) => AccountingError::during(accounting, breakage.error),
        }
    }

    async fn record_receipt(
        &mut self,
        receipt: Box<UsageReceipt>,
        continuation: Option<AgentContinuation>,
    ) -> anyhow::Result<()> {
        debug!(tool_calls = self.facts.tool_calls, end = ?receipt.end, "turn settled");
        let (round, usage) = (self.round, self.usage);
        let event = SessionEvent::ProviderReceipt { round, usage, receipt, continuation };
        self.host.record(event).await
    }

    /// Hands the final answer over. The turn is let go before the host is asked.
    async fn conclude(self, answer: String) -> anyhow::Result<SessionControl> {
        let Self { turn, host, facts, .. } = self;
        drop(turn);
        if let Some(capture) = facts.capture {
            return host.complete_capture(capture, answer).await;
        }
        let (used_tool, emitted_response) = (facts.tool_calls > 0, facts.emitted_response);
        let finish_requested = facts.finish_requested;
        let completion = RoundCompletion { answer, used_tool, finish_requested, emitted_response };
        host.complete_round(completion).await
    }
}

/// Records the receipt of a turn that broke while it started; gives the error to return.
pub(crate) async fn record_broken_turn<H: SessionHost>(
    host: &mut H,
    round: u64,
    receipt: Box<UsageReceipt>,
    error: anyhow::Error,
) -> anyhow::Error {
    let (usage, continuation) = (None, None);
    let event = SessionEvent::ProviderReceipt { round, usage, receipt, continuation };
    match host.record(event).await {
        Ok(()) => error,
        Err(accounting) => AccountingError::during(accounting, error),
    }
}
