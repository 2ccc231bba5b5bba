//! Decides what standing instructions and skills an agent is given.
//!
//! Knows nothing about where they are kept.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Digest, OperationContext, PortFailure};

/// Instructions and skills as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSnapshot {
    /// Texts that go before the task, in order.
    pub instructions: Vec<String>,
    /// Skills by name.
    pub skills: BTreeMap<String, String>,
    /// SHA-256 of the above, lowercase hex.
    pub digest: String,
}

impl ResourceSnapshot {
    /// A snapshot of these texts, with its digest.
    #[must_use]
    pub fn new(instructions: Vec<String>, skills: BTreeMap<String, String>) -> Self {
        let digest = Digest::of_json(&(&instructions, &skills)).to_string();
        Self { instructions, skills, digest }
    }
}

/// Loads instructions and skills.
///
/// # Contract
/// The digest is equal exactly when the content is.
///
/// # Cancellation
/// Reads only; nothing is left behind.
#[async_trait]
pub trait ResourceSession: Send + Sync {
    /// What holds now.
    async fn load(&self, operation: &OperationContext) -> Result<ResourceSnapshot, PortFailure>;
}
