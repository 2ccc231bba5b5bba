//! Decides what is remembered of a conversation between executions.
//!
//! Knows nothing about tool calls or context windows: only roles and text.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{ModelRole, OperationContext, PortFailure};

/// One remembered message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// Who spoke.
    pub role: ModelRole,
    /// What was said.
    pub text: String,
}

/// One conversation.
///
/// # Contract
/// - `load_recent` gives the newest `limit` messages, oldest first.
/// - `append` adds all messages in order, or none. Appends of one `operation.id` are deduplicated:
///   the same messages again are `Ok` and add nothing; other messages are `Conflict`.
///
/// # Cancellation
/// An interrupted append is whole or absent, and its failure says `Unknown` unless it is known.
#[async_trait]
pub trait ConversationSession: Send + Sync {
    /// The newest messages, oldest first.
    async fn load_recent(
        &self,
        operation: &OperationContext,
        limit: usize,
    ) -> Result<Vec<ConversationMessage>, PortFailure>;

    /// Adds messages at the end, all or none.
    async fn append(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure>;
}
