//! Decides which knobs of generation exist for every provider.
//!
//! Knows no provider's names for them, and has no default that changes an answer: what is `None`
//! is not sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a model shall generate. `GenerationOptions::default()` leaves everything to the provider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GenerationOptions {
    /// Sampling temperature; the provider says which range it takes.
    pub temperature: Option<f64>,
    /// Texts at which generation ends.
    pub stop: Vec<String>,
    /// Whether and which tool must be called.
    pub tool_choice: ToolChoice,
    /// The form of the answer.
    pub response_format: ResponseFormat,
    /// Name of the effort that a reasoning model shall spend, for example `low` or `high`.
    pub reasoning_effort: Option<String>,
}

/// Whether and which tool must be called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool.
    None,
    /// Any tool, but at least one.
    Required,
    /// This tool.
    Named {
        /// Name of a tool in the request's set.
        name: String,
    },
}

/// The form of the answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Free text.
    #[default]
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that follows a schema.
    JsonSchema {
        /// A name for the schema, `[A-Za-z0-9_-]{1,64}`.
        name: String,
        /// JSON Schema.
        schema: Value,
        /// Whether the provider must enforce the schema to the letter.
        strict: bool,
    },
}
