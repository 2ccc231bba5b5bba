//! Decides what must be known afterwards about the context that a model was given.
//!
//! Knows nothing about how the context was assembled or compressed. Invariant: a snapshot names
//! the exact request by its digest, and its segments are the whole request, in the order in which
//! a provider that caches prefixes reads it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Digest, OperationContext, PortFailure, TokenUsage, ToolSet, Transcript};

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
    /// The tools; a store keeps each set once, by digest.
    pub tools: ToolSet,
    /// Tokens taken for the protocol.
    pub protocol_overhead_tokens: u64,
    /// Tokens kept free for the answer.
    pub reserved_output_tokens: u64,
    /// Estimate of the whole.
    pub estimated_tokens: u64,
    /// [`ModelRequest::digest`](crate::ModelRequest::digest) of the request that was, or would
    /// be, sent; lowercase hex.
    pub request_digest: String,
    /// What the request is made of, in the order in which it is read: tools, options, then the
    /// messages from the first to the last. A part that is not there has no segment. Empty where
    /// nobody looked.
    #[serde(default)]
    pub segments: Vec<ContextSegment>,
    /// The snapshot that the changes of the segments are told against: that of the request which
    /// was sent before this one. `None` for the first that a process sends of a run.
    #[serde(default)]
    pub compared_with: Option<String>,
}

/// What a part of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextSegmentKind {
    /// The tools that the model may call.
    Tools,
    /// The options of the generation and the output reservation.
    Options,
    /// The system messages that the request begins with.
    Instructions,
    /// Loaded instructions and skills.
    Resources,
    /// What stands for the part of the history that was compacted: the users' messages and the
    /// summary.
    Compacted,
    /// Messages of the history that were there when the request before this one was sent.
    History,
    /// What came since then; all of the history when there was no request before.
    New,
}

/// What became of a part of a request since the request before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SegmentChange {
    /// There was no request before, or none with this part.
    First,
    /// It is the same; messages that are, follow the same messages as before.
    Unchanged,
    /// It goes on where the request before ended.
    Appended,
    /// It is not the same: what a provider kept of the prefix is lost from here on.
    Rewritten {
        /// Position in the request of the first message that is not the same, from 0; `None` for
        /// tools and options.
        message: Option<usize>,
    },
    /// Messages before it are not the same, so that it no longer continues the same prefix.
    Displaced,
}

/// A part of a request.
///
/// The digests say by themselves which part of a prefix changed: of two requests, the first segment
/// whose digest differs is the first that is not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextSegment {
    /// What it is.
    pub kind: ContextSegmentKind,
    /// Digest of the tool set; SHA-256 of the output reservation and the options; for messages,
    /// [`Transcript::digest`] of all messages up to the end of this segment.
    pub digest: Digest,
    /// Tools or messages; 1 for the options.
    pub items: usize,
    /// Estimate of its tokens.
    pub estimated_tokens: u64,
    /// What became of it since the request before.
    pub change: SegmentChange,
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

/// Keeps what models were given.
///
/// # Contract
/// - Every call is durable when it returns `Ok`. What was kept is never changed.
/// - The same value under the same id is `Ok`, however often it comes; another value is `Conflict`,
///   not committed, and changes nothing. Snapshots, derivations and invocations have ids of their
///   own: one id may name one of each.
/// - An invocation may go from `Prepared` to one end with the same model and request snapshot. An
///   end without its `Prepared` is kept as well: it is evidence.
/// - Names are not resolved: a derivation or an invocation may come before the snapshots that it
///   names.
/// - A snapshot is kept exactly, its messages in their order. A message that many snapshots share
///   is kept once.
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
