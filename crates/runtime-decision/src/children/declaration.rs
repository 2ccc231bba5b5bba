//! Decides which agents a run may delegate to, and how far.
//!
//! Knows nothing about what they are made of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An agent that tasks can be delegated to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubAgentDeclaration {
    /// Its name, by which the model chooses it.
    pub name: Arc<str>,
    /// What it is for, told to the model.
    pub description: Arc<str>,
    /// Names what it is made of; a stored run goes on with the same only.
    pub digest: Arc<str>,
}

/// How far a run may delegate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DelegationLimits {
    /// How deep sub-agents nest; 1 is a child that has no children.
    pub max_depth: u32,
    /// Most children of a run that are at work at once.
    pub max_running: usize,
    /// Most children that a run starts in all.
    pub max_total: usize,
}

impl Default for DelegationLimits {
    /// One level, sixteen at once, 64 in all.
    fn default() -> Self {
        Self { max_depth: 1, max_running: 16, max_total: 64 }
    }
}
