//! Decides how the smallest useful host of a session behaves: one question, one answer, no tools.

use runtime_kernel::{
    HostFuture, PreparedRound, RoundCompletion, RoundPreparation, SessionControl, SessionEvent,
    SessionHost, SessionToolOutcome, ToolCall,
};
use runtime_ports::UsageReceipt;
use serde_json::Value;
use uuid::Uuid;

/// Asks one question and keeps the receipts.
#[derive(Debug)]
pub struct OneQuestion {
    model: String,
    question: String,
    /// The receipts, in order.
    pub receipts: Vec<UsageReceipt>,
}

impl OneQuestion {
    /// A host that asks `question` of `model`.
    pub fn new(model: impl Into<String>, question: impl Into<String>) -> Self {
        Self { model: model.into(), question: question.into(), receipts: Vec::new() }
    }
}

impl SessionHost for OneQuestion {
    fn prepare_round<'a>(&'a mut self, _round: u64) -> HostFuture<'a, RoundPreparation> {
        let prepared = PreparedRound {
            input: self.question.clone(),
            provider_input: self.question.clone(),
            continuation: None,
            model: self.model.clone(),
            reasoning_effort: String::new(),
            tool_description: "There are no tools.".to_owned(),
            timeout: None,
        };
        Box::pin(async move { Ok(RoundPreparation::Run(prepared)) })
    }

    fn record<'a>(&'a mut self, event: SessionEvent) -> HostFuture<'a, ()> {
        if let SessionEvent::ProviderReceipt { receipt, .. } = event {
            self.receipts.push(*receipt);
        }
        Box::pin(async { Ok(()) })
    }

    fn execute_tool<'a>(
        &'a mut self,
        _call: anyhow::Result<ToolCall>,
        _provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(async { Ok(SessionToolOutcome::failure("there are no tools")) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move { Ok(SessionControl::Complete(Some(contents))) })
    }

    fn complete_round<'a>(
        &'a mut self,
        completion: RoundCompletion,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move { Ok(SessionControl::Complete(Some(completion.answer))) })
    }
}
