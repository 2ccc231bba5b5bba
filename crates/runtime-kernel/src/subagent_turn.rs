//! Decides how the one turn of a subagent run is led to its answer, and that its receipt is
//! recorded.
//!
//! Knows nothing about how the turn was started or what the answer is for. Invariant: whichever way
//! the turn is left, exactly one `ProviderReceipt` is given to the host, before anything escapes.

use anyhow::ensure;
use runtime_decision::wording::disposition;
use runtime_ports::{
    AgentTurn, AgentTurnEvent, CommitDisposition, PortFailure, TokenUsage, ToolResult, UsageReceipt,
};
use serde_json::Value;
use tracing::debug;
use uuid::Uuid;

use crate::{
    AccountingError, AuditEvent, Host, SubagentError, ToolCall, ToolOutcome,
    breakage::{Breakage, receipt_of},
    bridge,
    projection::{Change, Projection},
};

/// What the model is told of a result that was withheld.
const RESULT_WITHHELD: &str = "The tool ran, but its result is too large for what is left of the \
context and was withheld. Do not retry the call: what it did stays done.";

/// What the model is told of a call while its final answer is awaited.
const CAPTURE_PENDING: &str = "No tool was run: an earlier call asked for your final answer as its \
contents. Write them now as plain text, in full.";

/// Names of the run, for its events.
pub(crate) struct Identity {
    pub(crate) parent: Uuid,
    pub(crate) turn_id: Uuid,
    pub(crate) manifest_hash: String,
}

/// A turn that runs, and what it has come to so far.
pub(crate) struct SubagentTurn<'a, H> {
    turn: Box<dyn AgentTurn>,
    identity: Identity,
    projection: Projection,
    host: &'a mut H,
    /// The latest that the turn reported itself.
    usage: Option<TokenUsage>,
    tool_calls: u64,
    capture: Option<Value>,
}

impl<'a, H: Host> SubagentTurn<'a, H> {
    pub(crate) fn new(
        turn: Box<dyn AgentTurn>,
        identity: Identity,
        projection: Projection,
        host: &'a mut H,
    ) -> Self {
        Self { turn, identity, projection, host, usage: None, tool_calls: 0, capture: None }
    }

    /// Leads the turn to its end, records its receipt, and gives the answer of the run.
    pub(crate) async fn play(mut self) -> anyhow::Result<String> {
        match self.converse().await {
            Ok(answer) => {
                self.account_completed().await?;
                self.conclude(answer).await
            }
            Err(breakage) => Err(self.account_broken(breakage).await),
        }
    }

    async fn converse(&mut self) -> Result<String, Breakage> {
        while let Some(event) = self.turn.next_event().await? {
            match event {
                AgentTurnEvent::UsageUpdated(usage) => self.usage = Some(usage),
                AgentTurnEvent::ToolCall { call_id, tool, arguments } => {
                    let answer = self.serve_call(&tool, arguments).await?;
                    self.turn.respond(&call_id, answer).await?;
                }
                AgentTurnEvent::Completed { answer, usage, .. } => {
                    self.usage = usage.or(self.usage);
                    return Ok(answer);
                }
                // What was submitted is in the audit by its hash; the rest is for display.
                AgentTurnEvent::ModelContextSubmitted(_)
                | AgentTurnEvent::TransportInput(_)
                | AgentTurnEvent::TextDelta(_)
                | AgentTurnEvent::ReasoningDelta(_) => {}
            }
        }
        Err(anyhow::Error::new(SubagentError::NoTerminalEvent).into())
    }

    async fn serve_call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<ToolResult> {
        self.tool_calls += 1;
        if self.capture.is_some() {
            return Ok(self.fail(CAPTURE_PENDING.to_owned()));
        }
        match bridge::parse(tool, arguments) {
            Ok(call) => self.execute(call).await,
            Err(invalid) => Ok(self.fail(invalid.to_string())),
        }
    }

    async fn execute(&mut self, call: ToolCall) -> anyhow::Result<ToolResult> {
        let name = call.name.clone();
        self.host.record(AuditEvent::ToolCall {
            parent_operation_id: self.identity.parent,
            name: name.clone(),
            arguments: call.arguments.clone(),
        })?;
        let rendered = self.host.render_tool_call(&call)?;
        self.projection.append(rendered);
        let budget = self.projection.budget();
        let executed = self.host.execute_tool(call, self.identity.turn_id, budget).await;
        let outcome = executed.unwrap_or_else(|error| failed_outcome(&name, &error));
        self.take(name, outcome)
    }

    /// Takes an outcome into the projection if it fits, and audits it either way.
    fn take(&mut self, name: String, mut outcome: ToolOutcome) -> anyhow::Result<ToolResult> {
        let (ok, text) = (outcome.ok, outcome.text.clone());
        let capture = outcome.capture.take().filter(|_| ok);
        let accepted = self.projection.accept(change_of(outcome));
        self.host.record(AuditEvent::ToolResult {
            parent_operation_id: self.identity.parent,
            name,
            ok,
            projection_accepted: accepted,
            result: text.clone(),
        })?;
        if !accepted {
            return Ok(self.fail(RESULT_WITHHELD.to_owned()));
        }
        self.capture = capture;
        Ok(ToolResult { success: ok, text })
    }

    /// A failure in our own words: short, so that it is kept whether it fits or not.
    fn fail(&mut self, text: String) -> ToolResult {
        self.projection.append(text.clone());
        ToolResult { success: false, text }
    }

    async fn account_completed(&mut self) -> anyhow::Result<()> {
        let receipt = receipt_of(self.turn.as_mut()).await?;
        self.record_receipt(receipt)
    }

    async fn account_broken(&mut self, breakage: Breakage) -> anyhow::Error {
        let settled = match breakage.receipt {
            Some(receipt) => Ok(receipt),
            None => self.turn.finish_unavailable().await.map(Box::new),
        };
        let accounted = settled.map_err(anyhow::Error::new);
        match accounted.and_then(|receipt| self.record_receipt(receipt)) {
            Ok(()) => breakage.error,
            Err(accounting) => AccountingError::during(accounting, breakage.error),
        }
    }

    fn record_receipt(&mut self, receipt: Box<UsageReceipt>) -> anyhow::Result<()> {
        debug!(tool_calls = self.tool_calls, end = ?receipt.end, "turn settled");
        self.host.record(receipt_event(&self.identity, self.usage, receipt))
    }

    /// Makes the answer of the run from the turn's. The turn is let go before the host is asked.
    async fn conclude(self, answer: String) -> anyhow::Result<String> {
        let Self { turn, host, mut projection, capture, tool_calls, .. } = self;
        drop(turn);
        let Some(capture) = capture else { return Ok(plain_answer(&answer, tool_calls)?) };
        ensure!(!answer.trim().is_empty(), SubagentError::EmptyCapture);
        let outcome = host.complete_capture(capture, answer, projection.budget()).await?;
        Ok(captured_answer(&mut projection, outcome)?)
    }
}

fn plain_answer(answer: &str, tool_calls: u64) -> Result<String, SubagentError> {
    match (answer.trim(), tool_calls) {
        ("", 0) => Err(SubagentError::EmptyAnswer),
        ("", _) => Err(SubagentError::EmptyAnswerAfterTools),
        (answer, _) => Ok(answer.to_owned()),
    }
}

fn captured_answer(
    projection: &mut Projection,
    mut outcome: ToolOutcome,
) -> Result<String, SubagentError> {
    if !outcome.ok {
        return Err(SubagentError::CaptureFailed { reason: outcome.text });
    }
    let answer = outcome.text.trim().to_owned();
    if answer.is_empty() {
        return Err(SubagentError::EmptyCaptureResult);
    }
    outcome.text.clone_from(&answer);
    if !projection.accept(change_of(outcome)) {
        return Err(SubagentError::CaptureTooLarge);
    }
    Ok(answer)
}

/// What an outcome changes; of a failed one only the text counts.
fn change_of(outcome: ToolOutcome) -> Change {
    let ToolOutcome { text: result, ok, state_updates, displayed_state_keys, .. } = outcome;
    if ok {
        return Change { updates: state_updates, result, displayed: displayed_state_keys };
    }
    Change { updates: Vec::new(), result, displayed: Vec::new() }
}

/// The outcome of a tool whose host failed. What is known of the effect goes with it, so that the
/// model does not repeat what was done.
fn failed_outcome(name: &str, error: &anyhow::Error) -> ToolOutcome {
    let effect = disposition(commit_of(error));
    ToolOutcome::failure(format!("{name} failed: {error:#}; {effect}"))
}

/// What is known of the effect behind an error: the disposition of the port failure among its
/// causes, else unknown.
fn commit_of(error: &anyhow::Error) -> CommitDisposition {
    let failure = error.chain().find_map(|cause| cause.downcast_ref::<PortFailure>());
    failure.map_or(CommitDisposition::Unknown, |failure| failure.commit)
}

fn receipt_event(
    identity: &Identity,
    usage: Option<TokenUsage>,
    receipt: Box<UsageReceipt>,
) -> AuditEvent {
    AuditEvent::ProviderReceipt {
        parent_operation_id: identity.parent,
        round: 1,
        manifest_hash: identity.manifest_hash.clone(),
        usage,
        receipt,
    }
}

/// Records the receipt of a turn that broke while it started; gives the error to return.
pub(crate) fn record_broken_start<H: Host>(
    host: &mut H,
    identity: &Identity,
    receipt: Box<UsageReceipt>,
    error: anyhow::Error,
) -> anyhow::Error {
    match host.record(receipt_event(identity, None, receipt)) {
        Ok(()) => error,
        Err(accounting) => AccountingError::during(accounting, error),
    }
}
