//! Decides what is known of the answer that an agent must give.
//!
//! Knows no validator.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The form of an agent's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerSchema {
    /// Its name, told to providers that want one.
    pub name: Arc<str>,
    /// JSON Schema.
    pub schema: Arc<Value>,
}
