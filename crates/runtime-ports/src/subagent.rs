//! Decides how one task is delegated and comes back.
//!
//! Knows nothing about which loop runs the child.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{OperationContext, PortFailure};

/// A task for a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentRequest {
    /// Identity of the task; the same id again gives the same outcome.
    pub request_id: String,
    /// What the child shall do.
    pub prompt: String,
    /// Most model turns that the child may take.
    pub max_model_turns: usize,
}

/// What a child came back with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentOutcome {
    /// The child's answer.
    pub answer: String,
}

/// Delegates tasks.
///
/// # Contract
/// The child runs under a child of `operation`, so that it never outlives its parent's deadline or
/// cancellation. The parent always gets one outcome or one failure.
///
/// # Cancellation
/// Cancelling or dropping ends the child; what it spent is still receipted.
#[async_trait]
pub trait SubagentSession: Send + Sync {
    /// Runs a task to its end.
    async fn execute(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure>;
}
