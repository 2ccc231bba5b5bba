//! Decides how the sub-tasks of a run are said where its history is cut short.
//!
//! Knows how tasks stand. Invariant: every task is named, so that none is lost with what is cut.

use super::tasks::{ChildTask, TaskStage, task_id};
use crate::{Machine, wording::bounded};

/// Longest part of a task's words that is repeated.
const MAX_PROMPT_BYTES: usize = 200;

impl Machine {
    /// The sub-tasks of the run and how they stand, one a line; nothing when there is none.
    #[must_use]
    pub fn live_children(&self) -> Option<String> {
        let tasks = self.tasks();
        if tasks.is_empty() {
            return None;
        }
        let lines = tasks.iter().enumerate().map(|(place, task)| {
            let asked = bounded(&task.prompt, MAX_PROMPT_BYTES).replace(['\n', '\r'], " ");
            format!("\n- {} ({}), {}: {asked}", task_id(place), task.agent, standing(task))
        });
        Some(format!("[Sub-tasks:]{}", lines.collect::<String>()))
    }
}

fn standing(task: &ChildTask) -> String {
    match &task.at {
        TaskStage::AtWork { .. } => "at work".to_owned(),
        TaskStage::Over { end, told: true } => format!("{}, told", end.status.word()),
        TaskStage::Over { end, told: false } => format!("{}, not told yet", end.status.word()),
    }
}
