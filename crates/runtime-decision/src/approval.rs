//! Decides what is asked before a gated call runs, and what may be answered.
//!
//! Knows nothing about who answers. Invariant: an approval names one call with exact arguments.

use std::{sync::Arc, time::Duration};

use runtime_ports::{ApprovalDecision, EffectClass};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The question whether a call may run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// Identity of the question, unique for each.
    pub request_id: Arc<str>,
    /// The cycle, from 1.
    pub cycle: u32,
    /// The call.
    pub tool_call_id: Arc<str>,
    /// Name of the tool.
    pub tool_name: Arc<str>,
    /// What the tool may do to the world.
    pub effect: EffectClass,
    /// The exact arguments that would be approved.
    pub arguments: Arc<Value>,
    /// SHA-256 over call, tool, version, workspace and canonical arguments, in hex.
    pub digest: Arc<str>,
    /// The whole call in one line of text. Show it through a sanitizer.
    pub preview: Arc<str>,
    /// Whether the policy says that it must be asked; else only a provider may say so.
    pub required: bool,
    /// How long a live run waits for the answer.
    pub timeout: Duration,
    /// When the question lapses for good, in Unix milliseconds.
    pub expires_at_ms: u64,
}

/// What a provider says to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Consultation {
    /// This call needs no approval. Of one that the policy gates, it changes nothing: it is asked.
    NotNeeded,
    /// It may run.
    Approved,
    /// It may not.
    Denied {
        /// For the model.
        reason: String,
    },
    /// The provider waited for a decision, and none came.
    TimedOut {
        /// For the model.
        reason: String,
    },
    /// Somebody must be asked.
    NeedsApproval,
    /// The provider failed or panicked; the run fails.
    Failed {
        /// What it said.
        message: String,
    },
    /// It was told to stop and came to no end.
    Interrupted,
}

/// How a wait for an approval ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// Somebody decided.
    Decided {
        /// What.
        decision: ApprovalDecision,
    },
    /// Nobody decided in time.
    TimedOut,
    /// An answer came that decides nothing.
    Unresolved,
    /// The question could not be put.
    BrokerFailed {
        /// Why, for the model.
        message: String,
    },
}
