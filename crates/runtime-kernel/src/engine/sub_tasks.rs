//! Decides what is known of the sub-tasks of a run while it lives, to its driver and its handle.
//!
//! Knows their names, handles and ends; refuses to know why they were started. Invariant: a task is
//! known from the moment when its run may begin, under its newest run.

mod running;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_decision::{ChildEnd, RunStatus};

use super::RunHandle;
pub(super) use running::{Parent, Started, start};

/// How a sub-task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubTaskState {
    /// Its run is live.
    AtWork,
    /// Its run waits to be resumed, with its parent.
    Suspended,
    /// Its run is over.
    Ended(RunStatus),
    /// Its run broke down, or came to no end that is known.
    Lost,
}

/// A sub-task, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubTaskStatus {
    /// Names the task within its parent's run.
    pub task_id: Arc<str>,
    /// Names its newest run.
    pub run_id: Arc<str>,
    /// Which sub-agent.
    pub agent_name: Arc<str>,
    /// How it stands.
    pub state: SubTaskState,
}

struct Entry {
    status: SubTaskStatus,
    handle: RunHandle,
}

/// The sub-tasks of one run, oldest first. Clones are the same place; a run whose agent has no
/// sub-agents has none.
#[derive(Clone, Default)]
pub(super) struct SubTasks(Option<Arc<Mutex<Vec<Entry>>>>);

impl SubTasks {
    /// A place for those of a run that may have some.
    pub(super) fn some() -> Self {
        Self(Some(Arc::default()))
    }

    /// Nothing panics while this is held, so that a poisoned lock holds a whole state.
    fn lock(&self) -> Option<MutexGuard<'_, Vec<Entry>>> {
        self.0.as_ref().map(|all| all.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that a run of a task begins, or goes on.
    fn begin(&self, task_id: &Arc<str>, agent_name: &Arc<str>, handle: RunHandle) {
        let Some(mut all) = self.lock() else { return };
        let status = SubTaskStatus {
            task_id: Arc::clone(task_id),
            run_id: Arc::clone(handle.run_id()),
            agent_name: Arc::clone(agent_name),
            state: SubTaskState::AtWork,
        };
        let place = all.iter().position(|entry| entry.status.task_id == *task_id);
        let entry = Entry { status, handle };
        let old = match place {
            Some(place) => Some(std::mem::replace(&mut all[place], entry)),
            None => {
                all.push(entry);
                None
            }
        };
        drop(all);
        drop(old);
    }

    /// Notes how a run of a task came to its end, or to a rest.
    fn end(&self, task_id: &str, end: &ChildEnd) {
        let Some(mut all) = self.lock() else { return };
        let entry = all.iter_mut().find(|entry| *entry.status.task_id == *task_id);
        if let Some(entry) = entry {
            entry.status.state = match end {
                ChildEnd::Ended(result) => SubTaskState::Ended(result.status),
                ChildEnd::Suspended { .. } => SubTaskState::Suspended,
                ChildEnd::NotStarted { .. }
                | ChildEnd::BrokeDown { .. }
                | ChildEnd::Lost { .. } => SubTaskState::Lost,
            };
        }
    }

    /// How all of them stand.
    pub(super) fn statuses(&self) -> Vec<SubTaskStatus> {
        let all = self.lock();
        all.map(|all| all.iter().map(|entry| entry.status.clone()).collect()).unwrap_or_default()
    }

    /// The newest run of a task.
    pub(super) fn handle(&self, task_id: &str) -> Option<RunHandle> {
        let all = self.lock()?;
        let entry = all.iter().find(|entry| *entry.status.task_id == *task_id);
        entry.map(|entry| entry.handle.clone())
    }

    /// The run below that a question belongs to: its id begins with that of the run.
    pub(super) fn asking(&self, request_id: &str) -> Option<RunHandle> {
        let all = self.lock()?;
        let is_of = |run_id: &str| {
            request_id.strip_prefix(run_id).is_some_and(|rest| rest.starts_with('-'))
        };
        let entry = all.iter().rev().find(|entry| is_of(&entry.status.run_id));
        entry.map(|entry| entry.handle.clone())
    }
}

impl fmt::Debug for SubTasks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.statuses()).finish()
    }
}
