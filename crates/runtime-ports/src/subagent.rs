//! Decides how one task is delegated and comes back.
//!
//! Knows nothing about which loop runs the child. Invariant: a task has one outcome, however often
//! it is asked for.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{OperationContext, PortFailure};

/// A task for a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentRequest {
    /// Identity of the task within its execution; any text, told apart by its bytes.
    pub request_id: String,
    /// What the child shall do; not blank.
    pub prompt: String,
    /// Most model turns that the child may take, from 1: each is one answer of the model, with or
    /// without calls of tools.
    pub max_model_turns: usize,
}

/// What a child came back with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentOutcome {
    /// The child's answer, without white space at its ends; never empty.
    pub answer: String,
}

/// Delegates tasks.
///
/// # Contract
/// - The child runs under a child of `operation`: it never outlives its parent's deadline or
///   cancellation, and what ends the child never ends the parent. The parent always gets one
///   outcome or one failure.
/// - A task is named by its request id within `operation.execution_id`. The same request again
///   gives the same outcome and runs nothing; while the child is at work, it waits for that child.
///   Another prompt or another limit under the same id is `Conflict`, and changes nothing.
/// - A failure that says "not committed" leaves the id free: the same request again runs a child.
///   Every other failure is the task's outcome, like an answer: what a child may have done is never
///   done again under the same id.
/// - A blank prompt and a limit of no turns are `Invalid`, and nothing runs. A child that has no
///   answer after its last turn fails as `Forbidden`, committed. One that ends with nothing to say
///   fails as `Protocol`; one that breaks down, as `Internal`; one that wants to ask the user, as
///   `Unavailable`.
/// - A failure of the child's model arrives with its kind and code. It says "not committed" only
///   when no model turn of the child was answered before.
/// - Finished tasks are remembered for as long as the session lives, at least the last 1,000 of
///   them.
///
/// # Cancellation
/// Cancelling or dropping ends the child soon; what it spent is still receipted. Interrupted before
/// the child began, nothing was committed; later, the failure says `Unknown` unless it is known.
/// The child belongs to the call that began it. A call that waits for the child of another one may
/// be ended without ending the child, and gets its failure when the other one was ended.
#[async_trait]
pub trait SubagentSession: Send + Sync {
    /// Runs a task to its end.
    async fn execute(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure>;
}
