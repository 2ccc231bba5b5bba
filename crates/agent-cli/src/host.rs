//! Decides how the primary loop is hosted by a command: one task, tools in a folder, a person who
//! may be asked.
//!
//! Knows the loop's callbacks. Refuses to know providers, receipts' storage or the screen.

use std::sync::Arc;

use anyhow::bail;
use runtime_kernel::{
    HostFuture, PreparedRound, RoundCompletion, RoundPreparation, SessionControl, SessionEvent,
    SessionHost, SessionToolOutcome, ToolCall, ToolHost,
};
use runtime_ports::OperationContext;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    approval::{Approvals, Verdict},
    event::Event,
    show::Show,
    totals::RunTotals,
};

/// Asks once more when a model ends a round without a word.
const ASK_FOR_ANSWER: &str = "Give the final answer to the task now, in a few sentences.";

/// What the host is made of.
pub(crate) struct Host {
    pub(crate) task: String,
    pub(crate) instructions: String,
    pub(crate) model: String,
    pub(crate) operation: OperationContext,
    pub(crate) tools: ToolHost,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) show: Arc<dyn Show>,
    pub(crate) progress: Progress,
}

/// What has happened so far.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) totals: RunTotals,
    round: u64,
    calls: u64,
    empty_answers: u32,
    continuation: Option<runtime_ports::AgentContinuation>,
    /// All that the model has been told and has done, for the identity of the next round.
    projection: String,
}

impl Progress {
    /// Adds a section to the projection.
    fn note(&mut self, section: &str) {
        self.projection.push_str("\n\n");
        self.projection.push_str(section);
    }
}

impl Host {
    /// The first round sends the task; a later one asks for the answer that is missing, in the
    /// same thread where there is one.
    fn prepare(&mut self, round: u64) -> PreparedRound {
        self.progress.round = round;
        self.show.show(&Event::RoundStarted { round });
        let continuation = self.progress.continuation.clone();
        let new_input = match (round, &continuation) {
            (1, _) => self.task.clone(),
            (_, Some(_)) => ASK_FOR_ANSWER.to_owned(),
            (_, None) => format!("{}\n\n{ASK_FOR_ANSWER}", self.task),
        };
        if round == 1 {
            self.progress.projection.push_str(&self.instructions);
        }
        self.progress.note(&new_input);
        PreparedRound {
            input: self.progress.projection.clone(),
            provider_input: new_input,
            continuation,
            model: self.model.clone(),
            reasoning_effort: String::new(),
            tool_description: self.tools.tool_description().to_owned(),
            timeout: None,
        }
    }

    fn take(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::UsageUpdated { round, usage } => {
                self.show.show(&Event::UsageUpdated { round, usage });
            }
            SessionEvent::ProviderReceipt { round, receipt, continuation, .. } => {
                self.progress.totals.add(&receipt);
                self.progress.continuation = continuation;
                self.show.show(&Event::ReceiptRecorded { round, receipt });
            }
            SessionEvent::InferenceSubmitted { .. } | SessionEvent::ProviderInput { .. } => {}
        }
    }

    async fn serve(
        &mut self,
        call: anyhow::Result<ToolCall>,
    ) -> anyhow::Result<SessionToolOutcome> {
        self.progress.calls += 1;
        let number = self.progress.calls;
        let call = match call {
            Ok(call) => call,
            Err(error) => {
                let reason = format!("{error:#}");
                self.show.show(&Event::ToolCallRefused { number, reason: reason.clone() });
                return Ok(SessionToolOutcome::failure(reason));
            }
        };
        let (tool, arguments) = (call.name.clone(), call.arguments.clone());
        self.show.show(&Event::ToolCalled { number, tool: tool.clone(), arguments });
        self.progress.note(&format!("{tool} {}", call.arguments));
        let outcome = self.admit_and_run(number, call).await?;
        let (ok, text) = (outcome.ok, outcome.text.clone());
        self.progress.note(&text);
        self.show.show(&Event::ToolReturned { number, tool, ok, text });
        Ok(outcome)
    }

    async fn admit_and_run(
        &mut self,
        number: u64,
        call: ToolCall,
    ) -> anyhow::Result<SessionToolOutcome> {
        // Nobody is asked about a call that would be refused anyway.
        let descriptor = match self.tools.check(&call) {
            Ok(descriptor) => descriptor,
            Err(refused) => return Ok((*refused).into()),
        };
        let approvals = Arc::clone(&self.approvals);
        let verdict = approvals.admit(&self.operation, number, descriptor, &call).await?;
        if let Verdict::Refused { code, reason } = verdict {
            let told = error_result(&call.name, code, &reason);
            return Ok(SessionToolOutcome::failure(told.to_string()));
        }
        let round = u32::try_from(self.progress.round).unwrap_or(u32::MAX);
        Ok(self.tools.execute(&self.operation, call, round).await.into())
    }

    fn complete(&mut self, completion: RoundCompletion) -> anyhow::Result<SessionControl> {
        if !completion.answer.trim().is_empty() {
            return Ok(SessionControl::Complete(Some(completion.answer)));
        }
        self.progress.empty_answers += 1;
        if self.progress.empty_answers > 1 {
            bail!("the model gave no answer, twice; try another model or another wording");
        }
        Ok(SessionControl::Continue)
    }
}

/// What the model is told of a call that did not run.
fn error_result(tool: &str, code: &str, reason: &str) -> Value {
    json!({ "ok": false, "error": reason, "error_code": code, "tool_name": tool })
}

impl SessionHost for Host {
    fn prepare_round<'a>(&'a mut self, round: u64) -> HostFuture<'a, RoundPreparation> {
        Box::pin(async move { Ok(RoundPreparation::Run(self.prepare(round))) })
    }

    fn record<'a>(&'a mut self, event: SessionEvent) -> HostFuture<'a, ()> {
        Box::pin(async move {
            self.take(event);
            Ok(())
        })
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: anyhow::Result<ToolCall>,
        _provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(self.serve(call))
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl> {
        // No tool of this command captures; an answer is an answer all the same.
        Box::pin(async move { Ok(SessionControl::Complete(Some(contents))) })
    }

    fn complete_round<'a>(
        &'a mut self,
        completion: RoundCompletion,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move { self.complete(completion) })
    }
}

#[cfg(test)]
mod tests;
