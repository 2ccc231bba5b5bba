//! Decides what is known of the tasks that a run delegated.
//!
//! Knows values only. Invariants: a task is named by its place among all of them, and keeps that
//! name; what a task came to is told to the model once.

use std::sync::Arc;

use runtime_ports::Transcript;
use serde::{Deserialize, Serialize};

use super::{ChildEnd, ChildResult, stored_child};
use crate::{RunStatus, Spent};

/// What the name of a task begins with; its number follows.
const PREFIX: &str = "task-";

/// The tasks that a run delegated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Children {
    /// In the order in which they were started.
    pub(crate) tasks: Vec<ChildTask>,
    /// Runs that were started: those of tasks that were continued count again.
    pub(crate) started: usize,
}

/// A task that was delegated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChildTask {
    pub(crate) agent: Arc<str>,
    /// What the present or last run of it is asked.
    pub(crate) prompt: Arc<str>,
    /// The number in the id of that run.
    pub(crate) run: u64,
    /// The call that started that run.
    pub(crate) call: Arc<str>,
    /// Whether the model went on meanwhile.
    pub(crate) background: bool,
    /// While it is at work, what was said before; then all that was said.
    #[serde(with = "crate::stored_history")]
    pub(crate) history: Transcript,
    /// Where it goes on, if it was suspended.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored_child")]
    pub(crate) stored: Option<Arc<str>>,
    /// The questions that can be answered while it is suspended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) asking: Vec<Arc<str>>,
    /// What it had used when it was suspended, until its end says all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) used: Option<Box<Spent>>,
    pub(crate) at: TaskStage,
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", content = "with", rename_all = "snake_case")]
pub(crate) enum TaskStage {
    /// A run of it is open.
    AtWork {
        /// Whether it was told to stop.
        stopping: bool,
    },
    /// Its run is over.
    Over {
        /// What it came to.
        end: TaskEnd,
        /// Whether the model was told.
        told: bool,
    },
}

/// What a run of a task came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TaskEnd {
    pub(crate) status: TaskStatus,
    /// Its answer, or its question.
    pub(crate) said: Option<Arc<str>>,
    /// What went wrong.
    pub(crate) error: Option<Arc<str>>,
}

/// How a run of a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskStatus {
    Completed,
    WaitUser,
    MaxCycles,
    Cancelled,
    Failed,
    BudgetExhausted,
    /// It could not begin; nothing ran.
    NotStarted,
    /// Nobody knows.
    Unknown,
}

/// Name of the task at a place.
pub(crate) fn task_id(place: usize) -> Arc<str> {
    format!("{PREFIX}{}", place + 1).into()
}

/// Place of the task of this name; none for any other spelling of it.
pub(super) fn place_of(tasks: &[ChildTask], id: &str) -> Option<usize> {
    let number: usize = id.strip_prefix(PREFIX)?.parse().ok()?;
    let place = number.checked_sub(1).filter(|place| *place < tasks.len())?;
    (*task_id(place) == *id).then_some(place)
}

/// Places of the tasks of which something holds.
pub(super) fn places(tasks: &[ChildTask], is: impl Fn(&ChildTask) -> bool) -> Vec<usize> {
    let tasks = tasks.iter().enumerate();
    tasks.filter(|(_, task)| is(task)).map(|(place, _)| place).collect()
}

impl ChildTask {
    pub(crate) const fn is_at_work(&self) -> bool {
        matches!(self.at, TaskStage::AtWork { .. })
    }

    pub(crate) const fn is_untold(&self) -> bool {
        matches!(self.at, TaskStage::Over { told: false, .. })
    }

    /// What it came to, once it is over.
    pub(crate) const fn end(&self) -> Option<&TaskEnd> {
        match &self.at {
            TaskStage::AtWork { .. } => None,
            TaskStage::Over { end, .. } => Some(end),
        }
    }

    /// Notes that the model is told of its end, if it is over.
    pub(crate) const fn tell(&mut self) {
        if let TaskStage::Over { told, .. } = &mut self.at {
            *told = true;
        }
    }

    /// Takes its end; gives what its run and the runs below used, as far as that is known.
    pub(crate) fn take_end(&mut self, end: ChildEnd) -> Spent {
        (self.stored, self.asking) = (None, Vec::new());
        let before = self.used.take().map(|used| *used).unwrap_or_default();
        let (end, used) = match end {
            ChildEnd::Ended(result) => self.take_result(*result),
            ChildEnd::NotStarted { message } => {
                (TaskEnd::without_answer(TaskStatus::NotStarted, message), before)
            }
            ChildEnd::BrokeDown { message } => {
                (TaskEnd::without_answer(TaskStatus::Failed, message), before)
            }
            ChildEnd::Lost { message } => {
                (TaskEnd::without_answer(TaskStatus::Unknown, message), before)
            }
            // Only one that goes on no more is taken so.
            ChildEnd::Suspended { used, .. } => {
                let message = "it was stopped while it was suspended".into();
                (TaskEnd::without_answer(TaskStatus::Cancelled, message), *used)
            }
        };
        self.at = TaskStage::Over { end, told: false };
        used
    }

    fn take_result(&mut self, result: ChildResult) -> (TaskEnd, Spent) {
        self.history = result.history;
        let end = TaskEnd {
            status: result.status.into(),
            said: result.wait_reason.or(result.final_answer),
            error: result.error.map(|error| error.to_string().into()),
        };
        (end, result.spent)
    }
}

impl TaskEnd {
    const fn without_answer(status: TaskStatus, error: Arc<str>) -> Self {
        Self { status, said: None, error: Some(error) }
    }

    /// How the run ended, if it ran and that is known.
    pub(crate) const fn run_status(&self) -> Option<RunStatus> {
        match self.status {
            TaskStatus::Completed => Some(RunStatus::Completed),
            TaskStatus::WaitUser => Some(RunStatus::WaitUser),
            TaskStatus::MaxCycles => Some(RunStatus::MaxCycles),
            TaskStatus::Cancelled => Some(RunStatus::Cancelled),
            TaskStatus::Failed => Some(RunStatus::Failed),
            TaskStatus::BudgetExhausted => Some(RunStatus::BudgetExhausted),
            TaskStatus::NotStarted | TaskStatus::Unknown => None,
        }
    }

    /// Its answer or question, or what went wrong.
    pub(crate) fn output(&self) -> Arc<str> {
        self.said.clone().or_else(|| self.error.clone()).unwrap_or_default()
    }
}

impl From<RunStatus> for TaskStatus {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Completed => Self::Completed,
            RunStatus::WaitUser => Self::WaitUser,
            RunStatus::MaxCycles => Self::MaxCycles,
            RunStatus::Cancelled => Self::Cancelled,
            RunStatus::Failed => Self::Failed,
            RunStatus::BudgetExhausted => Self::BudgetExhausted,
        }
    }
}

impl TaskStatus {
    /// In a word, as models and watchers are told it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::WaitUser => "wait_user",
            Self::MaxCycles => "max_cycles",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::BudgetExhausted => "budget_exhausted",
            Self::NotStarted => "not_started",
            Self::Unknown => "unknown",
        }
    }
}
