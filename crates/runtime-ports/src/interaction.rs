//! Decides how a question reaches a human and one answer comes back.
//!
//! Knows nothing about how it is shown. Invariant: a question is registered before anybody can see
//! it, and the first answer counts.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{OperationContext, PortFailure};

/// What kind of answer is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// Free text.
    #[default]
    Question,
    /// A decision; the response must carry one.
    Approval,
}

/// A question to a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InteractionRequest {
    /// Identity of the question; unique within the execution.
    pub request_id: String,
    /// What is asked, in full. Show it through a sanitizer.
    pub prompt: String,
    /// What kind of answer is wanted.
    pub kind: InteractionKind,
    /// Digest of exactly what is approved, so that the decision releases nothing else.
    pub digest: Option<String>,
    /// When the question lapses, in Unix milliseconds; `None` leaves it to the deadline.
    pub expires_at: Option<u64>,
}

/// What was decided about an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// This one may run.
    Approved,
    /// This one and its like may run until the run ends.
    ApprovedForRun,
    /// It may not.
    Denied {
        /// Why, for the model.
        reason: String,
    },
}

/// The answer of a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InteractionResponse {
    /// What was written; may be empty for a decision.
    pub text: String,
    /// The decision, if one was asked for.
    pub decision: Option<ApprovalDecision>,
}

impl InteractionRequest {
    /// A question for free text.
    pub fn question(request_id: impl Into<String>, prompt: impl Into<String>) -> Self {
        let kind = InteractionKind::Question;
        let (request_id, prompt) = (request_id.into(), prompt.into());
        Self { request_id, prompt, kind, digest: None, expires_at: None }
    }

    /// A question for a decision on what `digest` names.
    pub fn approval(
        request_id: impl Into<String>,
        prompt: impl Into<String>,
        digest: impl Into<String>,
    ) -> Self {
        let kind = InteractionKind::Approval;
        let (request_id, prompt) = (request_id.into(), prompt.into());
        Self { request_id, prompt, kind, digest: Some(digest.into()), expires_at: None }
    }
}

impl InteractionResponse {
    /// An answer in free text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), decision: None }
    }

    /// A decision.
    #[must_use]
    pub const fn decision(decision: ApprovalDecision) -> Self {
        Self { text: String::new(), decision: Some(decision) }
    }
}

/// Asks a human.
///
/// # Contract
/// - `prepare` is durable before the question is visible. Preparing the same request again is
///   `Ok`; another request under the same id is `Conflict`.
/// - `wait` gives the first answer, also when it came before the call, and the same one to every
///   later call. Waiting for what was not prepared is `NotFound`.
/// - When nobody can be asked, `prepare` or `wait` fails with `Unavailable`; a wait never outlives
///   its deadline.
///
/// # Cancellation
/// A cancelled wait leaves the question pending; it can be waited for again.
#[async_trait]
pub trait InteractionSession: Send + Sync {
    /// Registers a question before it becomes visible.
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure>;

    /// Waits for the answer to a registered question.
    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure>;

    /// Registers a question and waits for its answer.
    async fn request(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<InteractionResponse, PortFailure> {
        let request_id = request.request_id.clone();
        self.prepare(operation, request).await?;
        self.wait(operation, &request_id).await
    }
}
