//! Decides what every [`ConversationSession`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about files, tables or locks: another process, one that dies, and a store that is
//! slow or fails are things that the harness can make happen, or declares that it cannot.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::ConversationSession;

use crate::{Declares, Trouble, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// Makes the subject: a conversation without messages.
#[async_trait]
pub trait ConversationHarness: Send + Sync {
    /// What the conversation can do.
    fn capabilities(&self) -> ConversationCapabilities;

    /// A fresh, empty conversation.
    ///
    /// # Errors
    /// [`Unstageable`] when there cannot be one.
    async fn stage(&self) -> Result<StagedConversation, Unstageable>;
}

/// A conversation and the world around it.
pub struct StagedConversation {
    /// The subject.
    pub session: Arc<dyn ConversationSession>,
    /// Who else opens it, and what befalls its store.
    pub world: Box<dyn ConversationWorld>,
}

/// The processes around a conversation, and its store.
#[async_trait]
pub trait ConversationWorld: Send {
    /// The same conversation, opened by another process while the first one lives.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn second_process(&mut self) -> Result<Arc<dyn ConversationSession>, Unstageable>;

    /// The process that opened `session` dies without a farewell, and the next one opens the same
    /// conversation.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn after_death(
        &mut self,
        session: Arc<dyn ConversationSession>,
    ) -> Result<Arc<dyn ConversationSession>, Unstageable>;

    /// Another conversation in the same store, fresh and empty.
    ///
    /// # Errors
    /// [`Unstageable`] when the store holds only one.
    async fn another_conversation(&mut self) -> Result<Arc<dyn ConversationSession>, Unstageable>;

    /// Makes this befall the next append of the staged session that reaches the store.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable>;
}

/// What a conversation may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent capability")]
pub struct ConversationCapabilities {
    /// Several processes can open the same conversation.
    pub shared: bool,
    /// What was appended outlives the process that appended it.
    pub outlives_its_process: bool,
    /// Its store holds several conversations.
    pub several: bool,
    /// The harness can make an append slow.
    pub can_be_slow: bool,
    /// The harness can make an append fail before anything is kept.
    pub can_refuse: bool,
    /// The harness can make the reply of an append that was kept get lost.
    pub can_lose_replies: bool,
}

/// One field of [`ConversationCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum ConversationNeed {
    Shared,
    OutlivesItsProcess,
    Several,
    CanBeSlow,
    CanRefuse,
    CanLoseReplies,
}

impl ConversationCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self {
        shared: true,
        outlives_its_process: true,
        several: true,
        can_be_slow: true,
        can_refuse: true,
        can_lose_replies: true,
    };
}

impl Declares<ConversationNeed> for dyn ConversationHarness + '_ {
    fn declares(&self, need: ConversationNeed) -> bool {
        let declared = self.capabilities();
        match need {
            ConversationNeed::Shared => declared.shared,
            ConversationNeed::OutlivesItsProcess => declared.outlives_its_process,
            ConversationNeed::Several => declared.several,
            ConversationNeed::CanBeSlow => declared.can_be_slow,
            ConversationNeed::CanRefuse => declared.can_refuse,
            ConversationNeed::CanLoseReplies => declared.can_lose_replies,
        }
    }
}
