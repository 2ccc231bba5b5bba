//! Decides how a message is kept that is sent often and seldom looked at.
//!
//! Knows nothing about what it is for. Invariant: what is shown equals what was taken.

#[cfg(test)]
mod tests;

use std::{fmt, sync::OnceLock};

use serde_json::Value;

use crate::{ModelContent, ModelMessage, ModelRole};

/// Deepest nesting of values that is kept as JSON. A reader of JSON gives up at 128, the frame of
/// the message included.
const MAX_DEPTH: usize = 64;

/// A message, or the JSON that it can be made of again.
pub(crate) enum KeptMessage {
    Plain(ModelMessage),
    Packed(Packed),
}

/// A message with arguments. As values they take much room, since `serde_json` keeps an object of
/// one key in a node for eleven: 632 bytes.
pub(crate) struct Packed {
    role: ModelRole,
    json: Box<[u8]>,
    /// The message, once somebody borrowed it.
    unpacked: OnceLock<Box<ModelMessage>>,
}

impl KeptMessage {
    /// Keeps `message`, whose canonical JSON is `json`.
    pub(crate) fn new(message: ModelMessage, json: Vec<u8>) -> Self {
        if !has_arguments(&message) || !message.content.iter().all(is_shallow) {
            return Self::Plain(message);
        }
        let (role, json) = (message.role, json.into_boxed_slice());
        Self::Packed(Packed { role, json, unpacked: OnceLock::new() })
    }

    pub(crate) const fn role(&self) -> ModelRole {
        match self {
            Self::Plain(message) => message.role,
            Self::Packed(packed) => packed.role,
        }
    }

    /// The message, which from now on is kept as it is, beside its JSON.
    pub(crate) fn borrowed(&self) -> &ModelMessage {
        match self {
            Self::Plain(message) => message,
            Self::Packed(packed) => packed.unpacked.get_or_init(|| Box::new(packed.unpack())),
        }
    }

    /// Shows the message, and keeps nothing more than before.
    pub(crate) fn show<T>(&self, show: impl FnOnce(&ModelMessage) -> T) -> T {
        match self {
            Self::Plain(message) => show(message),
            Self::Packed(packed) => match packed.unpacked.get() {
                Some(message) => show(message),
                None => show(&packed.unpack()),
            },
        }
    }
}

impl Packed {
    fn unpack(&self) -> ModelMessage {
        serde_json::from_slice(&self.json).expect("it was written from a message")
    }
}

impl fmt::Debug for KeptMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(|message| message.fmt(formatter))
    }
}

fn has_arguments(message: &ModelMessage) -> bool {
    message.content.iter().any(|item| match item {
        ModelContent::ToolUse { arguments: Value::Object(arguments), .. } => !arguments.is_empty(),
        _ => false,
    })
}

fn is_shallow(item: &ModelContent) -> bool {
    match item {
        ModelContent::ToolUse { arguments: value, .. }
        | ModelContent::Reasoning { opaque: value, .. } => is_within(value, MAX_DEPTH),
        _ => true,
    }
}

fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|it| is_within(it, depth - 1)),
        Value::Object(items) => depth > 0 && items.values().all(|it| is_within(it, depth - 1)),
        _ => true,
    }
}
