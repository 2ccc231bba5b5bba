//! Decides how a scripted human reacts to one question.
//!
//! Knows nothing about the question.

use runtime_ports::{ApprovalDecision, InteractionResponse};

use crate::{model_step::shortened, script::Scripted};

/// One reaction of a scripted human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanStep(Option<InteractionResponse>);

impl HumanStep {
    /// Answers with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::response(InteractionResponse::text(text))
    }

    /// Approves this once.
    #[must_use]
    pub const fn approve() -> Self {
        Self::response(InteractionResponse::decision(ApprovalDecision::Approved))
    }

    /// Approves this and its like for the rest of the run.
    #[must_use]
    pub const fn approve_for_run() -> Self {
        Self::response(InteractionResponse::decision(ApprovalDecision::ApprovedForRun))
    }

    /// Refuses.
    pub fn deny(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::response(InteractionResponse::decision(ApprovalDecision::Denied { reason }))
    }

    /// Answers with exactly this.
    #[must_use]
    pub const fn response(response: InteractionResponse) -> Self {
        Self(Some(response))
    }

    /// Says nothing: the wait lasts until somebody else answers, or it is ended.
    #[must_use]
    pub const fn silence() -> Self {
        Self(None)
    }

    pub(crate) fn into_response(self) -> Option<InteractionResponse> {
        self.0
    }
}

impl Scripted for HumanStep {
    fn label(&self) -> String {
        match &self.0 {
            None => "silence".to_owned(),
            Some(InteractionResponse { decision: Some(decision), .. }) => format!("{decision:?}"),
            Some(response) => format!("text {:?}", shortened(&response.text)),
        }
    }
}
