//! Decides what a message to or from a model is made of.
//!
//! Knows nothing about any provider's wire format. Invariant: what only its issuer may read back
//! is stamped with that issuer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ModelContent {
    /// Plain text.
    Text {
        /// The text, UTF-8.
        text: String,
    },
    /// A tool call by the model.
    ToolUse {
        /// Identity of the call; unique within one response.
        id: String,
        /// Name of the tool, as the model wrote it.
        name: String,
        /// The parsed arguments. `Value::String` holds the raw text of arguments that did not
        /// parse, or that were a JSON string literal, quotes included.
        arguments: Value,
    },
    /// The one result of a tool call.
    ToolResult {
        /// The `id` of the call.
        tool_use_id: String,
        /// Name of the tool that was called.
        name: String,
        /// What the model is told.
        content: String,
        /// Whether the call failed.
        failed: bool,
    },
    /// A picture.
    Image {
        /// Where its bytes are.
        source: ImageSource,
    },
    /// Reasoning that must go back verbatim, and only to who issued it.
    Reasoning {
        /// Provider and account scope that issued it; adapters compare it for equality.
        issuer: String,
        /// What may be shown; empty when the provider keeps it to itself.
        text: String,
        /// What the issuer needs back, verbatim; `null` when there is nothing.
        opaque: Value,
    },
}

/// Where the bytes of an image are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ImageSource {
    /// In the message itself.
    Inline {
        /// For example `image/png`.
        media_type: String,
        /// Standard base64 with padding.
        base64: String,
    },
    /// At an address that the provider fetches.
    Url {
        /// An absolute `https` address.
        url: String,
    },
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// The application.
    System,
    /// The person, or the program in its place.
    User,
    /// The model.
    Assistant,
    /// The results of tools.
    Tool,
}

/// One message of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelMessage {
    /// Who speaks.
    pub role: ModelRole,
    /// What is said, in order.
    pub content: Vec<ModelContent>,
}

impl ModelContent {
    /// A piece of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl ModelMessage {
    /// A message of one piece of text.
    pub fn text(role: ModelRole, text: impl Into<String>) -> Self {
        Self { role, content: vec![ModelContent::text(text)] }
    }
}
