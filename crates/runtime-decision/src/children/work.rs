//! Decides what a child is asked to do, and what it comes back with.
//!
//! Knows nothing about how it runs.

use std::sync::Arc;

use runtime_ports::Transcript;
use serde::{Deserialize, Serialize};

use crate::{RunError, RunStatus, Shortage, Spent};

/// A run of a sub-agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildWork {
    /// Identity of the child's run.
    pub run_id: Arc<str>,
    /// Names the task within its parent's run; the same when the child is continued.
    pub task_id: Arc<str>,
    /// Which sub-agent.
    pub agent: Arc<str>,
    /// What it shall do.
    pub prompt: Arc<str>,
    /// What was said before, when a child is continued; to be repaired.
    pub history: Transcript,
    /// The call that started it.
    pub parent_tool_call_id: Arc<str>,
    /// How deep it is, from 1.
    pub depth: u32,
    /// Whether a budget applies to it.
    pub budgeted: bool,
    /// Whether it is shown pictures from tools.
    pub native_multimodal: bool,
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
        /// The stored run, as JSON.
        stored: Arc<str>,
        /// The questions, of it and of runs below it, that can be answered meanwhile.
        pending_approvals: Vec<Arc<str>>,
        /// What it used so far, the runs below it included.
        used: Box<Spent>,
    },
    /// It could not be started; nothing ran.
    NotStarted {
        /// Why.
        message: Arc<str>,
    },
    /// It broke down at work; what it was at may have taken effect.
    BrokeDown {
        /// What is known.
        message: Arc<str>,
    },
    /// It was told to stop and came to no end, or it went down with its process.
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
    pub history: Transcript,
    /// What it and its own children used.
    pub spent: Spent,
    /// A budget that it shares with its parent and that is used up: it ends the parent too.
    pub exhausted: Option<Box<Shortage>>,
}
