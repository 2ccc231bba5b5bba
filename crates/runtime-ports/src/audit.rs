//! Decides what must be known afterwards about the context that a model was given.
//!
//! Knows nothing about how the context was assembled or compressed. Invariant: a snapshot names
//! the exact request by its digest.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{ModelToolDefinition, OperationContext, PortFailure, TokenUsage, Transcript};

/// How far the context had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextAuditStage {
    /// As the history has it.
    Original,
    /// With what was put around it.
    Assembled,
    /// Made smaller.
    Compressed,
}

/// A context as it was at one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextAuditSnapshot {
    /// Identity of the snapshot.
    pub id: String,
    /// How far it had come.
    pub stage: ContextAuditStage,
    /// What the context is for, for example `cycle` or `summary`.
    pub purpose: String,
    /// The messages; a store keeps each once, by digest.
    pub messages: Transcript,
    /// The tools.
    pub tools: Vec<ModelToolDefinition>,
    /// Tokens taken for the protocol.
    pub protocol_overhead_tokens: u64,
    /// Tokens kept free for the answer.
    pub reserved_output_tokens: u64,
    /// Estimate of the whole.
    pub estimated_tokens: u64,
    /// [`ModelRequest::digest`](crate::ModelRequest::digest) of the request that was, or would
    /// be, sent; lowercase hex.
    pub request_digest: String,
}

/// How one context came from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextDerivationKind {
    /// Something was put around it.
    Assemble,
    /// A part was replaced by something shorter.
    Compress,
    /// A part was left out.
    Trim,
    /// Parts changed their places.
    Reorder,
}

/// A step from one snapshot to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextAuditDerivation {
    /// Identity of the derivation.
    pub id: String,
    /// The snapshot before.
    pub source_snapshot_id: String,
    /// The snapshot after.
    pub target_snapshot_id: String,
    /// What was done.
    pub kind: ContextDerivationKind,
    /// Estimated tokens before.
    pub input_tokens: u64,
    /// Estimated tokens after.
    pub output_tokens: u64,
    /// Messages before.
    pub input_items: usize,
    /// Messages after.
    pub output_items: usize,
}

/// How far a model invocation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelInvocationAuditState {
    /// About to be sent.
    Prepared,
    /// Answered.
    Succeeded,
    /// Failed.
    Failed,
}

/// A model invocation, as it was prepared and as it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInvocationAudit {
    /// The `invocation_id` of the request.
    pub id: String,
    /// The snapshot that was sent.
    pub request_snapshot_id: String,
    /// The model that was asked.
    pub model: String,
    /// How far it has come.
    pub state: ModelInvocationAuditState,
    /// What was reported; unknown fields stay `None`.
    pub usage: TokenUsage,
    /// The code of the failure, if it failed.
    pub error_code: Option<String>,
}

/// Keeps what models were given. Provisional until the cycle engine audits its contexts.
///
/// # Contract
/// - Every call is durable when it returns `Ok`. The same value under the same id is `Ok`; another
///   value is `Conflict`, except that an invocation may go from `Prepared` to one end.
///
/// # Cancellation
/// An interrupted call is whole or absent; repeating it is safe.
#[async_trait]
pub trait ContextAuditSession: Send + Sync {
    /// Keeps a context.
    async fn snapshot(
        &self,
        operation: &OperationContext,
        snapshot: ContextAuditSnapshot,
    ) -> Result<(), PortFailure>;

    /// Keeps a step between two contexts.
    async fn derivation(
        &self,
        operation: &OperationContext,
        derivation: ContextAuditDerivation,
    ) -> Result<(), PortFailure>;

    /// Keeps how far an invocation has come.
    async fn model_invocation(
        &self,
        operation: &OperationContext,
        invocation: ModelInvocationAudit,
    ) -> Result<(), PortFailure>;
}
