//! Decides how a scripted turn is played, event by event and answer by answer.
//!
//! Knows nothing about other turns or about why it was started. Invariant: an event is given only
//! when no call waits for its answer, and a dropped `next_event` loses none.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use runtime_ports::{
    AgentContinuation, AgentTurn, AgentTurnEvent, Interruption, ModelContext, PortFailure,
    PortFailureKind, ToolResult, TurnEnd, TurnFailure, UsageReceipt,
};
use tokio::time::Instant;

use crate::{
    RecordedAnswer, ScriptedCall, ScriptedUsage, TurnScript, TurnStep,
    turn_ledger::{TurnLedger, TurnRecord},
};

/// What a turn without a timeout of its own waits for its provider, over the whole turn.
const DEFAULT_PROVIDER_WAIT: Duration = Duration::from_secs(30 * 60);

/// A turn that plays a script. Dropping it while it is open settles it as interrupted.
pub(crate) struct FakeTurn {
    record: Arc<TurnRecord>,
    ledger: Arc<Mutex<TurnLedger>>,
    phase: Phase,
    /// Provider time that is left.
    patience: Duration,
    /// When the wait for the step at hand began.
    waiting_since: Option<Instant>,
    continuation: Option<AgentContinuation>,
}

enum Phase {
    /// Nothing was given yet.
    Fresh,
    /// The next step may be played.
    Playing,
    /// A call waits for its answer.
    AwaitingAnswer(Box<ScriptedCall>),
    /// The turn is over.
    Over,
}

impl FakeTurn {
    pub(crate) fn new(record: Arc<TurnRecord>, ledger: Arc<Mutex<TurnLedger>>) -> Self {
        let patience = record.start.request.timeout.unwrap_or(DEFAULT_PROVIDER_WAIT);
        let (waiting_since, continuation) = (None, None);
        Self { record, ledger, phase: Phase::Fresh, patience, waiting_since, continuation }
    }

    fn next_step(&self) -> TurnStep {
        let played = self.record.progress().played;
        match self.record.script.steps().get(played) {
            Some(step) => step.clone(),
            None => self.breach("was asked for more than its script has"),
        }
    }

    fn advance(&mut self) {
        self.record.progress().played += 1;
        if let Some(since) = self.waiting_since.take() {
            self.patience = self.patience.saturating_sub(since.elapsed());
        }
    }

    /// Waits as long as the step says; the wait goes on when the caller comes back after a drop.
    async fn wait(&mut self, needed: Option<Duration>) -> Result<(), Interruption> {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let out_of_patience = tokio::time::sleep_until(since + self.patience);
        let arrival = async {
            match needed {
                Some(needed) => tokio::time::sleep_until(since + needed).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.record.cancellation.cancelled() => Err(Interruption::Canceled),
            () = arrival => Ok(()),
            () = out_of_patience => Err(Interruption::DeadlineExceeded),
        }
    }

    /// Plays the step at hand.
    async fn play(&mut self, step: TurnStep) -> Result<Played, TurnFailure> {
        match step {
            TurnStep::Delay(wait) => self.pass_time(Some(wait)).await,
            TurnStep::Stall => {
                self.record.progress().stalled = true;
                self.pass_time(None).await
            }
            TurnStep::Event(event) => Ok(Played::Gave(self.give(event))),
            TurnStep::Call(call) => Ok(Played::Gave(self.surface(call))),
            TurnStep::Complete { answer, usage } => Ok(Played::Gave(self.complete(answer, usage))),
            TurnStep::Fail(failure) => Err(self.fail(failure)),
            TurnStep::Request(meter) => {
                self.advance();
                self.record.progress().requests.end(meter);
                Ok(Played::TimePassed)
            }
            TurnStep::End => Ok(self.end()),
        }
    }

    async fn pass_time(&mut self, needed: Option<Duration>) -> Result<Played, TurnFailure> {
        let waited = self.wait(needed).await;
        self.advance();
        match waited {
            Ok(()) => Ok(Played::TimePassed),
            Err(interruption) => Err(self.fail_unplayed(interruption.in_flight())),
        }
    }

    fn end(&mut self) -> Played {
        self.advance();
        self.phase = Phase::Over;
        self.record.note("ended without a terminal event");
        Played::Nothing
    }

    /// Sends what is due. A call of the same batch needs no request, and a turn has only so many.
    fn request_leaves(&self) -> bool {
        let mut progress = self.record.progress();
        progress.request_left = true;
        let script = &self.record.script;
        let more_calls = matches!(script.steps().get(progress.played), Some(TurnStep::Call(_)));
        let most = self.record.start.request.max_requests;
        !script.lists_requests() || more_calls || progress.requests.leave(most)
    }

    fn submit_context(&mut self) -> AgentTurnEvent {
        self.phase = Phase::Playing;
        self.record.note("gave ModelContextSubmitted");
        let request = &self.record.start.request;
        AgentTurnEvent::ModelContextSubmitted(ModelContext {
            input: request.input.clone(),
            provider: self.record.model.provider.clone(),
            model: self.record.model.provider_model.clone(),
            reasoning_effort: request.reasoning_effort.clone(),
            instructions: None,
            tools: request.tools.clone(),
        })
    }

    fn give(&mut self, event: AgentTurnEvent) -> AgentTurnEvent {
        self.advance();
        let mut progress = self.record.progress();
        progress.reality.push(format!("gave {event:?}"));
        if let AgentTurnEvent::UsageUpdated(usage) = &event {
            progress.usage = Some(*usage);
        }
        drop(progress);
        event
    }

    fn surface(&mut self, call: ScriptedCall) -> AgentTurnEvent {
        self.advance();
        self.record.note(format!("called {} as {}", call.tool, call.call_id));
        let event = AgentTurnEvent::ToolCall {
            call_id: call.call_id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        };
        self.phase = Phase::AwaitingAnswer(Box::new(call));
        event
    }

    fn complete(&mut self, answer: String, usage: ScriptedUsage) -> AgentTurnEvent {
        self.advance();
        self.phase = Phase::Over;
        self.record.note(format!("completed {answer:?}"));
        let usage = self.report(usage);
        let mut ledger = lock(&self.ledger);
        self.continuation = ledger.name_thread(&self.record);
        ledger.settle(&self.record, TurnEnd::Completed);
        drop(ledger);
        let thread_id = self.continuation.as_ref().map(|thread| thread.thread_id.clone());
        let turn_id = Some(format!("fake-turn-{}", self.record.number));
        AgentTurnEvent::Completed { answer, usage, thread_id, turn_id }
    }

    /// What the completion reports; the receipt keeps what was reported last.
    fn report(&self, usage: ScriptedUsage) -> Option<runtime_ports::TokenUsage> {
        let mut progress = self.record.progress();
        let reported = match usage {
            ScriptedUsage::Latest => Some(progress.usage.unwrap_or(TurnScript::USAGE)),
            ScriptedUsage::Exactly(usage) => Some(usage),
            ScriptedUsage::Withheld => None,
        };
        progress.usage = reported.or(progress.usage);
        reported
    }

    fn fail(&mut self, failure: PortFailure) -> TurnFailure {
        self.advance();
        self.fail_unplayed(failure)
    }

    fn fail_unplayed(&mut self, failure: PortFailure) -> TurnFailure {
        self.phase = Phase::Over;
        self.record.note(format!("failed: {failure}"));
        let receipt = lock(&self.ledger).settle(&self.record, TurnEnd::of_failure(failure.kind));
        TurnFailure { failure, receipt: Some(Box::new(receipt)) }
    }

    /// The failure of a turn that was cancelled from outside, if it was.
    fn canceled(&mut self) -> Option<TurnFailure> {
        let is_canceled = self.record.cancellation.is_cancelled();
        let sent = self.record.progress().request_left;
        let interruption = Interruption::Canceled;
        let failure =
            || if sent { interruption.in_flight() } else { interruption.before_sending() };
        is_canceled.then(|| self.fail_unplayed(failure()))
    }

    /// The answer to a turn that was cancelled while a call was open goes nowhere.
    fn canceled_while_open(&self) -> Option<PortFailure> {
        let waits = matches!(self.phase, Phase::AwaitingAnswer(_));
        let canceled = waits && self.record.cancellation.is_cancelled();
        canceled.then(|| Interruption::Canceled.before_sending())
    }

    fn check_answer(&self, call: &ScriptedCall, result: &ToolResult) {
        if call.expected.as_ref().is_some_and(|expected| expected != result) {
            let expected = &call.expected;
            self.breach(&format!("got the answer {result:?} where its script has {expected:?}"));
        }
    }

    /// Fails the test here, and again when the fake is dropped in case this panic is caught.
    fn breach(&self, what: &str) -> ! {
        let message = self.record.describe(what);
        lock(&self.ledger).breaches.push(message.clone());
        panic!("{message}");
    }
}

enum Played {
    Gave(AgentTurnEvent),
    TimePassed,
    Nothing,
}

impl TurnRecord {
    /// What went wrong, beside the script and what really happened.
    pub(crate) fn describe(&self, what: &str) -> String {
        let progress = self.progress();
        let reality: String = progress.reality.iter().map(|line| format!("  {line}\n")).collect();
        let (number, played, script) = (self.number, progress.played, &self.script);
        let steps = script.steps().len();
        format!(
            "turn {number} of FakeIntelligence {what} ({played} of {steps} steps played)\n\
             script:\n{script}reality:\n{reality}"
        )
    }
}

#[async_trait]
impl AgentTurn for FakeTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        if matches!(self.phase, Phase::Over) {
            return Ok(None);
        }
        if let Some(failure) = self.canceled() {
            return Err(failure);
        }
        match self.phase {
            Phase::Fresh => return Ok(Some(self.submit_context())),
            Phase::AwaitingAnswer(_) => return Err(TurnFailure::refused(open_call())),
            Phase::Playing | Phase::Over => {}
        }
        if !self.request_leaves() {
            return Err(self.fail_unplayed(no_request_left()));
        }
        loop {
            let step = self.next_step();
            match self.play(step).await? {
                Played::Gave(event) => return Ok(Some(event)),
                Played::TimePassed => {}
                Played::Nothing => return Ok(None),
            }
        }
    }

    async fn respond(&mut self, call_id: &str, result: ToolResult) -> Result<(), PortFailure> {
        if let Some(canceled) = self.canceled_while_open() {
            return Err(canceled);
        }
        let Phase::AwaitingAnswer(call) = &self.phase else { return Err(no_such_call()) };
        if call.call_id != call_id {
            return Err(no_such_call());
        }
        if let Some(refusal) = call.refusal.clone() {
            self.record.note(format!("refused the answer to {call_id}"));
            return Err(refusal);
        }
        self.check_answer(call, &result);
        self.record.note(format!("took the answer to {call_id}"));
        let (turn, call_id) = (self.record.id(), call_id.to_owned());
        lock(&self.ledger).answers.push(RecordedAnswer { turn, call_id, result });
        self.record.progress().requests.answered();
        self.phase = Phase::Playing;
        Ok(())
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        self.record.note("finish_unavailable");
        if let Some(receipt) = self.record.receipt.get() {
            self.phase = Phase::Over;
            return Ok(receipt.clone());
        }
        if let Some(refusal) = self.record.script.finish_refusal() {
            return Err(refusal.clone());
        }
        self.phase = Phase::Over;
        Ok(lock(&self.ledger).settle(&self.record, TurnEnd::Interrupted))
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        self.record.receipt.get()
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        self.continuation.as_ref()
    }
}

impl Drop for FakeTurn {
    fn drop(&mut self) {
        lock(&self.ledger).settle(&self.record, TurnEnd::Interrupted);
    }
}

pub(crate) fn lock(ledger: &Mutex<TurnLedger>) -> std::sync::MutexGuard<'_, TurnLedger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_call() -> PortFailure {
    let message = "a call waits for its answer; respond to it first";
    PortFailure::not_sent(PortFailureKind::Conflict, "CALL_OPEN", message)
}

fn no_such_call() -> PortFailure {
    let message = "no call of that id waits for an answer";
    PortFailure::not_sent(PortFailureKind::Conflict, "CALL_NOT_OPEN", message)
}

fn no_request_left() -> PortFailure {
    let message = "the turn made all requests that it may make; raise max_requests";
    PortFailure::not_sent(PortFailureKind::Forbidden, "REQUEST_LIMIT", message)
}
