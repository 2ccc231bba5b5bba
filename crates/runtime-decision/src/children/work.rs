//! Decides what a child is asked to do, and what it comes back with.
//!
//! Knows nothing about how it runs.

use std::sync::Arc;

use runtime_ports::ModelMessage;
use serde::{Deserialize, Serialize};

use crate::{RunError, RunStatus, Spent};

/// A run of a sub-agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildWork {
    /// Identity of the child's run.
    pub run_id: Arc<str>,
    /// Names the task; the same when the child is continued.
    pub task_id: Arc<str>,
    /// Which sub-agent.
    pub agent: Arc<str>,
    /// What it shall do.
    pub prompt: Arc<str>,
    /// What was said before, when a child is continued.
    pub messages: Vec<ModelMessage>,
    /// The call that started it.
    pub parent_tool_call_id: Arc<str>,
    /// How deep it is, from 1.
    pub depth: u32,
    /// Whether a budget applies to it.
    pub budgeted: bool,
    /// Where it goes on, when it was suspended with its parent.
    pub stored: Option<Arc<str>>,
}

/// How a run of a sub-agent came to its end, or to a rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum ChildEnd {
    /// It ended.
    Ended(Box<ChildResult>),
    /// It was suspended, and goes on when it is started again with this.
    Suspended {
        /// The stored run.
        stored: Arc<str>,
    },
    /// It could not be started; nothing ran.
    NotStarted {
        /// Why.
        message: Arc<str>,
    },
    /// It was told to stop and came to no end, or it broke down.
    Lost {
        /// What is known.
        message: Arc<str>,
    },
}

/// What is left of a child's run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildResult {
    /// How it ended.
    pub status: RunStatus,
    /// Its answer.
    pub final_answer: Option<Arc<str>>,
    /// What it waits for.
    pub wait_reason: Option<Arc<str>>,
    /// What went wrong.
    pub error: Option<RunError>,
    /// What was said, so that it can be continued.
    pub messages: Vec<ModelMessage>,
    /// What it and its own children used.
    pub spent: Spent,
}
