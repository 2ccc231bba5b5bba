//! What the saboteur does wrong in the course of a turn.
//!
//! Knows nothing about how turns start.

use std::{
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use runtime_ports::{
    AgentContinuation, AgentTurn, AgentTurnEvent, Interruption, PortFailure, PortFailureKind,
    TokenUsage, ToolResult, TurnFailure, TurnStart, UsageReceipt,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Memory, TurnFault as Fault, accounting, idle, lock};

/// A turn that does one thing wrong.
pub(super) struct SabotagedTurn {
    honest: Option<Box<dyn AgentTurn>>,
    fault: Fault,
    start: TurnStart,
    began: Instant,
    memory: Arc<Mutex<Memory>>,
    repeated: Option<AgentTurnEvent>,
    failed: Option<TurnFailure>,
    counted: u64,
    finished: u64,
    settled: OnceLock<UsageReceipt>,
    early: UsageReceipt,
}

impl SabotagedTurn {
    pub(super) fn new(
        honest: Box<dyn AgentTurn>,
        fault: Fault,
        start: TurnStart,
        memory: Arc<Mutex<Memory>>,
    ) -> Self {
        Self {
            honest: Some(honest),
            fault,
            early: idle::receipt(&start),
            start,
            began: Instant::now(),
            memory,
            repeated: None,
            failed: None,
            counted: 0,
            finished: 0,
            settled: OnceLock::new(),
        }
    }

    fn honest(&mut self) -> &mut dyn AgentTurn {
        self.honest.as_mut().expect("the honest turn is there until the drop").as_mut()
    }

    /// Fails as timed out although the provider was quick.
    async fn host_took_too_long(&mut self) -> Option<TurnFailure> {
        let limit = self.start.request.timeout.filter(|_| self.fault == Fault::CountsTheHost)?;
        if self.began.elapsed() <= limit {
            return None;
        }
        let receipt = self.honest().finish_unavailable().await.ok().map(Box::new);
        Some(TurnFailure { failure: Interruption::DeadlineExceeded.in_flight(), receipt })
    }

    /// The event as it is told; `None` leaves it out.
    async fn told(&mut self, event: AgentTurnEvent) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        let told = match (self.fault, event) {
            (Fault::HidesContext, AgentTurnEvent::ModelContextSubmitted(_)) => None,
            (Fault::RewritesInput, AgentTurnEvent::ModelContextSubmitted(mut context)) => {
                context.input.push_str(", politely");
                Some(AgentTurnEvent::ModelContextSubmitted(context))
            }
            (Fault::LosesDeltas, AgentTurnEvent::TextDelta(_)) => None,
            (Fault::AnswersByItself, AgentTurnEvent::ToolCall { call_id, tool, .. })
                if tool == "write" =>
            {
                let result = ToolResult { success: true, text: "by itself".into() };
                self.honest().respond(&call_id, result).await.map_err(TurnFailure::refused)?;
                None
            }
            (fault, event) => Some(self.retold(fault, event)),
        };
        Ok(told)
    }

    fn retold(&mut self, fault: Fault, event: AgentTurnEvent) -> AgentTurnEvent {
        let again = matches!(
            (fault, &event),
            (Fault::RepeatsContext, AgentTurnEvent::ModelContextSubmitted(_))
                | (Fault::CompletesTwice, AgentTurnEvent::Completed { .. })
        );
        self.repeated = again.then(|| event.clone());
        match (fault, event) {
            (Fault::LosesAnswer, AgentTurnEvent::Completed { usage, thread_id, turn_id, .. }) => {
                AgentTurnEvent::Completed { answer: String::new(), usage, thread_id, turn_id }
            }
            (
                Fault::GuessesArguments,
                AgentTurnEvent::ToolCall { call_id, tool, arguments: Value::String(_) },
            ) => AgentTurnEvent::ToolCall { call_id, tool, arguments: json!({}) },
            (Fault::ReportsEachRequest, AgentTurnEvent::UsageUpdated(usage)) => {
                AgentTurnEvent::UsageUpdated(self.since_last(usage))
            }
            (_, event) => event,
        }
    }

    fn since_last(&mut self, usage: TokenUsage) -> TokenUsage {
        let sum = usage.input_tokens.unwrap_or_default();
        let input_tokens = Some(sum - self.counted);
        self.counted = sum;
        TokenUsage { input_tokens, ..usage }
    }

    async fn failed(
        &mut self,
        failure: TurnFailure,
    ) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        let kind = failure.failure.kind;
        if self.fault == Fault::EndsOnOpenCalls && kind == PortFailureKind::Conflict {
            return Ok(None);
        }
        if self.fault == Fault::CompletesCutAnswers && kind == PortFailureKind::Protocol {
            let (answer, usage) = ("I begin".to_owned(), None);
            let (thread_id, turn_id) = (None, None);
            return Ok(Some(AgentTurnEvent::Completed { answer, usage, thread_id, turn_id }));
        }
        if self.fault == Fault::Dawdles {
            sleep(Duration::from_secs(2)).await;
        }
        let failure = accounting::spoiled_failure(self.fault, failure, &lock(&self.memory));
        self.failed = Some(failure.clone()).filter(|_| self.fault == Fault::TalksAfterFailure);
        Err(failure)
    }
}

#[async_trait]
impl AgentTurn for SabotagedTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        if let Some(failure) = self.failed.clone() {
            return Err(failure);
        }
        if let Some(failure) = self.host_took_too_long().await {
            return Err(failure);
        }
        loop {
            if let Some(event) = self.repeated.take() {
                return Ok(Some(event));
            }
            let event = match self.honest().next_event().await {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(None),
                Err(failure) => return self.failed(failure).await,
            };
            if self.fault == Fault::LosesDroppedEvents {
                sleep(Duration::from_micros(700)).await;
            }
            if let Some(told) = self.told(event).await? {
                return Ok(Some(told));
            }
        }
    }

    async fn respond(&mut self, call_id: &str, result: ToolResult) -> Result<(), PortFailure> {
        let text = match self.fault {
            Fault::RewritesAnswers => "done".to_owned(),
            _ => result.text,
        };
        let result = ToolResult { text, ..result };
        match (self.fault, self.honest().respond(call_id, result).await) {
            (Fault::TakesAnyAnswer, Err(failure)) if failure.kind == PortFailureKind::Conflict => {
                Ok(())
            }
            (Fault::TakesLateAnswers, Err(failure))
                if failure.kind == PortFailureKind::Canceled =>
            {
                Ok(())
            }
            (_, answered) => answered,
        }
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        let receipt = self.honest().finish_unavailable().await?;
        let mut receipt = accounting::spoiled(self.fault, receipt, &lock(&self.memory));
        self.finished += 1;
        match self.fault {
            Fault::FinishesAnew => receipt.ended_at_ms += self.finished,
            Fault::InterruptsTheCompleted => receipt.end = runtime_ports::TurnEnd::Interrupted,
            _ => {}
        }
        Ok(receipt)
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        if self.fault == Fault::ReceiptsOpenTurns {
            return Some(&self.early);
        }
        let honest = self.honest.as_ref()?.receipt()?;
        let spoiled = || accounting::spoiled(self.fault, honest.clone(), &lock(&self.memory));
        Some(self.settled.get_or_init(spoiled))
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        self.honest.as_ref()?.continuation()
    }
}

impl Drop for SabotagedTurn {
    fn drop(&mut self) {
        if self.fault == Fault::LeaksDroppedTurns {
            std::mem::forget(self.honest.take());
        }
    }
}
