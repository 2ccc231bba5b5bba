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

/// One conversation. Executions come and go; it stays.
///
/// # Contract
/// - `load_recent` gives the newest `limit` messages, oldest first: none for a limit of 0, all of
///   them when there are fewer. It shows every append that has returned, and never a part of one
///   except where `limit` cuts it.
/// - `append` adds all messages in order, or none. They stay together, whatever is appended at the
///   same time, and are durable on return.
/// - Role and text come back as they were, an empty text too: nothing is trimmed, normalised or
///   left out. A store takes at least 1,000 messages and 1 MiB of text in one append; what is too
///   much for it is `Invalid`.
/// - Appends of one `operation.id` are deduplicated in this conversation for as long as it lives,
///   whichever process or execution asks: the same messages again are `Ok` and add nothing; other
///   ones (also more, fewer, or in another order) are `Conflict`, not committed.
/// - To append no messages is `Ok`, adds nothing, and is what its operation appended.
/// - An append that is not committed leaves its `operation.id` free.
///
/// # Cancellation
/// An interrupted append is whole or absent, and its failure says `Unknown` unless it is known; one
/// that was dropped may still be completed in the background. In either case the same messages may
/// be appended again under the same `operation.id`, and are there once. Loading leaves nothing.
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
