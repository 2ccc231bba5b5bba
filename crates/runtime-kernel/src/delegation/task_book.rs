//! Decides which calls run a child, which wait for one, and which are told of one that has ended.
//!
//! Knows names and ends of tasks; refuses to know what a child is. Invariant: of one task at most
//! one child is at work, and none once its effects may stand.

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{
    CommitDisposition, Digest, Interruption, OperationContext, PortFailure, PortFailureKind,
    SubagentRequest,
};
use tokio::sync::watch;

use super::End;

/// How many tasks that have ended are remembered.
const REMEMBERED: usize = 1_024;

/// The tasks of a session. Of ids and prompts only digests are kept, so that hostile ones cost no
/// more than others. Clones share it.
#[derive(Clone, Default)]
pub(super) struct TaskBook(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    tasks: HashMap<Digest, Task>,
    /// The tasks that have ended, oldest first.
    ended: VecDeque<Digest>,
}

struct Task {
    request: Digest,
    end: watch::Receiver<Option<End>>,
}

impl TaskBook {
    /// What the task comes to: by `run`, or by the call that runs it already.
    pub(super) async fn once<F>(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
        run: impl FnOnce(SubagentRequest) -> F,
    ) -> End
    where
        F: Future<Output = End>,
    {
        operation.remaining()?;
        check(&request)?;
        match self.place(operation, &request)? {
            Place::Free(duty) => {
                let end = run(request).await;
                duty.settle(end.clone());
                end
            }
            Place::Taken(end) => told(operation, end).await,
        }
    }

    fn place(
        &self,
        operation: &OperationContext,
        request: &SubagentRequest,
    ) -> Result<Place, PortFailure> {
        let name = Digest::of_json(&(operation.execution_id.as_str(), &request.request_id));
        let digest = Digest::of_json(&(&request.prompt, request.max_model_turns));
        let mut book = self.book();
        match book.tasks.get(&name) {
            Some(task) if task.request == digest => Ok(Place::Taken(task.end.clone())),
            Some(_) => Err(conflict()),
            None => {
                let (sender, end) = watch::channel(None);
                book.tasks.insert(name, Task { request: digest, end });
                Ok(Place::Free(Duty { book: self.clone(), name, sender: Some(sender) }))
            }
        }
    }

    /// Nothing panics while this is held, so that a poisoned lock holds a whole book.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn remember(&mut self, name: Digest) {
        self.ended.push_back(name);
        if self.ended.len() > REMEMBERED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.tasks.remove(&oldest);
        }
    }
}

/// Where a call finds its task.
enum Place {
    Free(Duty),
    Taken(watch::Receiver<Option<End>>),
}

/// The duty to say how a task ended. Dropped before that, it says that nobody knows.
struct Duty {
    book: TaskBook,
    name: Digest,
    sender: Option<watch::Sender<Option<End>>>,
}

impl Duty {
    fn settle(mut self, end: End) {
        self.say(end);
    }

    fn say(&mut self, end: End) {
        let Some(sender) = self.sender.take() else { return };
        let mut book = self.book.book();
        match &end {
            Err(failure) if failure.commit == CommitDisposition::NotCommitted => {
                book.tasks.remove(&self.name);
            }
            _ => book.remember(self.name),
        }
        drop(book);
        sender.send_replace(Some(end));
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        self.say(Err(lost()));
    }
}

/// The end of a task that another call runs.
async fn told(operation: &OperationContext, mut end: watch::Receiver<Option<End>>) -> End {
    let told = operation.bounded(end.wait_for(Option::is_some)).await;
    let end = told.map_err(Interruption::in_flight)?;
    end.ok().and_then(|end| end.clone()).unwrap_or_else(|| Err(lost()))
}

fn check(request: &SubagentRequest) -> Result<(), PortFailure> {
    if request.max_model_turns == 0 {
        return Err(invalid("the task allows no model turn; allow at least one"));
    }
    if request.prompt.trim().is_empty() {
        return Err(invalid("the task has no prompt; say what shall be done"));
    }
    Ok(())
}

fn invalid(message: &str) -> PortFailure {
    PortFailure::not_sent(PortFailureKind::Invalid, "sub_task_invalid", message)
}

fn conflict() -> PortFailure {
    let message = "another task has this id; use a new one";
    PortFailure::rejected(PortFailureKind::Conflict, "sub_task_conflict", message)
}

fn lost() -> PortFailure {
    let message = "the call that ran this task was dropped; look at what it did, and use a new id \
        to run it again";
    PortFailure::in_flight_unknown(PortFailureKind::Canceled, "sub_task_lost", message)
}
