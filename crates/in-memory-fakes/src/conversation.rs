//! Decides how a conversation is kept in memory.
//!
//! Knows nothing about who speaks in it. Invariant: what one operation appended is there once.

use std::collections::HashMap;

use async_trait::async_trait;
use runtime_ports::{
    ConversationMessage, ConversationSession, OperationContext, PortFailure, PortFailureKind,
};
use runtime_types::OperationId;

use crate::fake_port::{FakePort, fake_port};

/// A [`ConversationSession`] in memory. Clones share it.
///
/// Names for a [`FaultPlan`](crate::FaultPlan): `conversation.load_recent`, `conversation.append`.
#[derive(Clone)]
pub struct FakeConversation {
    port: FakePort<Conversation, ConversationCall>,
}

/// What a [`FakeConversation`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationCall {
    /// Give at most so many of the newest messages.
    LoadRecent(usize),
    /// Add these.
    Append(Vec<ConversationMessage>),
}

#[derive(Default)]
struct Conversation {
    messages: Vec<ConversationMessage>,
    appended: HashMap<OperationId, Vec<ConversationMessage>>,
}

fake_port!(FakeConversation, ConversationCall);

impl FakeConversation {
    /// A conversation that begins with these messages.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = ConversationMessage>) -> Self {
        let messages = messages.into_iter().collect();
        Self { port: FakePort::new(Conversation { messages, appended: HashMap::new() }) }
    }

    /// All messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> Vec<ConversationMessage> {
        self.port.world().messages.clone()
    }
}

impl Default for FakeConversation {
    fn default() -> Self {
        Self::new([])
    }
}

impl Conversation {
    fn newest(&self, limit: usize) -> Vec<ConversationMessage> {
        self.messages[self.messages.len().saturating_sub(limit)..].to_vec()
    }

    fn append(
        &mut self,
        operation: &OperationId,
        messages: Vec<ConversationMessage>,
    ) -> Result<(), PortFailure> {
        match self.appended.get(operation) {
            Some(before) if *before == messages => Ok(()),
            Some(_) => Err(PortFailure::rejected(
                PortFailureKind::Conflict,
                "CONVERSATION_CONFLICT",
                "this operation appended other messages; use a new operation",
            )),
            None => {
                self.messages.extend_from_slice(&messages);
                self.appended.insert(operation.clone(), messages);
                Ok(())
            }
        }
    }
}

#[async_trait]
impl ConversationSession for FakeConversation {
    async fn load_recent(
        &self,
        operation: &OperationContext,
        limit: usize,
    ) -> Result<Vec<ConversationMessage>, PortFailure> {
        let call = ConversationCall::LoadRecent(limit);
        let newest = |conversation: &mut Conversation| Ok(conversation.newest(limit));
        self.port.call(operation, "conversation.load_recent", call, newest).await
    }

    async fn append(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        let messages = messages.to_vec();
        let call = ConversationCall::Append(messages.clone());
        let append = |conversation: &mut Conversation| conversation.append(&operation.id, messages);
        self.port.call(operation, "conversation.append", call, append).await
    }
}
