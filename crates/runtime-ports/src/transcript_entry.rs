//! Decides what is computed once for a message, however often it is sent.
//!
//! Knows nothing about its position, nor about any wire format: an adapter that sends the message
//! keeps its own bytes in the one slot, under a key that only it understands.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    Digest, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS, ModelContent, ModelMessage, ModelRole,
    estimate_text_tokens, kept_message::KeptMessage,
};

/// Names the adapter and the profile that an encoding was made for. Cloning costs a reference
/// count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodingKey(Arc<(Box<str>, Box<str>)>);

impl EncodingKey {
    /// A key from the adapter's name and whatever makes its encoding differ (API, issuer, model
    /// family).
    #[must_use]
    pub fn new(adapter: &str, profile: &str) -> Self {
        Self(Arc::new((adapter.into(), profile.into())))
    }
}

/// A message with its digest, its token estimate and one slot for an encoding.
#[derive(Debug)]
pub struct TranscriptEntry {
    message: KeptMessage,
    digest: Digest,
    estimated_tokens: u64,
    encoding: Mutex<Option<(EncodingKey, Arc<[u8]>)>>,
}

impl TranscriptEntry {
    /// Digests and measures `message`, once.
    #[must_use]
    pub fn new(message: ModelMessage) -> Self {
        let json = serde_json::to_vec(&message).expect("a message is valid JSON");
        let (digest, estimated_tokens) = (Digest::of(&json), estimate_message_tokens(&message));
        let message = KeptMessage::new(message, json);
        Self { message, digest, estimated_tokens, encoding: Mutex::new(None) }
    }

    /// The message. One with arguments is kept in a form that takes less room until it is asked for
    /// here, and in both from then on; use [`Self::show`] where nothing of it is kept.
    #[must_use]
    pub fn message(&self) -> &ModelMessage {
        self.message.borrowed()
    }

    /// Shows the message to `show`, which may take the time to make it again.
    pub fn show<T>(&self, show: impl FnOnce(&ModelMessage) -> T) -> T {
        self.message.show(show)
    }

    pub(crate) const fn kept(&self) -> &KeptMessage {
        &self.message
    }

    /// Who speaks in the message.
    #[must_use]
    pub const fn role(&self) -> ModelRole {
        self.message.role()
    }

    /// SHA-256 of the message's canonical JSON.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Estimated tokens of the message, overhead included.
    #[must_use]
    pub const fn estimated_tokens(&self) -> u64 {
        self.estimated_tokens
    }

    /// The encoding under `key`, made by `encode` unless the slot holds it. An encoding of another
    /// key is replaced.
    pub fn encoding(
        &self,
        key: &EncodingKey,
        encode: impl FnOnce(&ModelMessage) -> Vec<u8>,
    ) -> Arc<[u8]> {
        let mut slot = self.encoding.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some((held, bytes)) if held == key => Arc::clone(bytes),
            _ => {
                let bytes: Arc<[u8]> = self.message.show(encode).into();
                *slot = Some((key.clone(), Arc::clone(&bytes)));
                bytes
            }
        }
    }

    /// Empties the slot.
    pub fn forget_encoding(&self) {
        *self.encoding.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn estimate_message_tokens(message: &ModelMessage) -> u64 {
    let content = message.content.iter().map(estimate_content_tokens);
    content.fold(MESSAGE_OVERHEAD_TOKENS, u64::saturating_add)
}

fn estimate_content_tokens(content: &ModelContent) -> u64 {
    match content {
        ModelContent::Text { text } => estimate_text_tokens(text),
        ModelContent::ToolUse { id, name, arguments } => estimate_text_tokens(id)
            .saturating_add(estimate_text_tokens(name))
            .saturating_add(estimate_text_tokens(&arguments.to_string())),
        ModelContent::ToolResult { tool_use_id, name, content, .. } => {
            estimate_text_tokens(tool_use_id)
                .saturating_add(estimate_text_tokens(name))
                .saturating_add(estimate_text_tokens(content))
        }
        ModelContent::Image { .. } => IMAGE_TOKENS,
        ModelContent::Reasoning { text, opaque, .. } => {
            estimate_text_tokens(text).saturating_add(estimate_text_tokens(&opaque.to_string()))
        }
    }
}
