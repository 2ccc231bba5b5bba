//! Decides what a memory provider is told and asked.
//!
//! Knows nothing about where memory is kept.

use std::sync::Arc;

use runtime_ports::Transcript;
use serde::{Deserialize, Serialize};

/// What is known of a memory provider beside its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryDeclaration {
    /// For messages about it.
    pub name: Arc<str>,
    /// Whether it gives messages that shape the requests of a cycle.
    pub recalls: bool,
    /// Whether it wants to know of compactions.
    pub observes: bool,
}

/// Why a memory provider is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryMoment {
    /// It may give messages for the requests of this cycle.
    Recall,
    /// The context is about to be compacted.
    BeforeCompact,
    /// The context was compacted.
    AfterCompact,
}

/// One call of one memory provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryCall {
    /// Place of the provider in the definition, from 0.
    pub provider: usize,
    /// Why it is called.
    pub moment: MemoryMoment,
    /// The cycle, from 1.
    pub cycle: u32,
    /// The whole history, oldest first.
    pub history: Transcript,
    /// What the next request is based on, oldest first.
    pub context: Transcript,
    /// Estimated tokens of the request.
    pub prompt_tokens: u64,
}
