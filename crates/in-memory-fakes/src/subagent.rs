//! Decides what scripted children come back with.
//!
//! Knows nothing about how a child works. Invariant: one task has one outcome, however often it is
//! asked for.

use std::{
    collections::HashMap,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use async_trait::async_trait;
use runtime_ports::{
    CommitDisposition, Interruption, OperationContext, PortFailure, PortFailureKind,
    SubagentOutcome, SubagentRequest, SubagentSession,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::sync::watch;
use uuid::Uuid;

use crate::{
    SubagentStep,
    fake_port::{FakePort, fake_port, scripted},
    model_step::shortened,
    script::Script,
};

/// A [`SubagentSession`] whose children play a script, one step for each child, or what a function
/// says. Clones share it. It remembers all tasks.
///
/// Name for a [`FaultPlan`](crate::FaultPlan): `subagent.execute`.
#[derive(Clone)]
pub struct FakeSubagent {
    port: FakePort<Tasks, SubagentCall>,
    script: Arc<Script<SubagentStep>>,
    choice: Option<Arc<Choice>>,
}

type Choice = dyn Fn(&SubagentRequest) -> SubagentStep + Send + Sync;
type End = Result<SubagentOutcome, PortFailure>;
type Name = (ExecutionId, String);

/// What a [`FakeSubagent`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubagentCall {
    /// Run this task.
    Execute(SubagentRequest),
}

/// A child of a [`FakeSubagent`], at work or not any more.
#[derive(Debug, Clone)]
pub struct FakeChild {
    /// Its task.
    pub request: SubagentRequest,
    /// What it was given to work under: a child of its parent's operation.
    pub operation: OperationContext,
    /// How many model turns it began.
    pub turns: usize,
    /// Whether it has not come to its end.
    pub is_at_work: bool,
}

#[derive(Default)]
struct Tasks {
    tasks: HashMap<Name, Task>,
    children: Vec<FakeChild>,
}

struct Task {
    request: SubagentRequest,
    end: watch::Receiver<Option<End>>,
}

fake_port!(FakeSubagent, SubagentCall);
scripted!(FakeSubagent);

impl FakeSubagent {
    /// Children that play these steps.
    #[must_use]
    pub fn new(steps: impl IntoIterator<Item = SubagentStep>) -> Self {
        let script = Arc::new(Script::new("FakeSubagent", steps));
        Self { port: FakePort::new(Tasks::default()), script, choice: None }
    }

    /// Children that do what this function says of their task.
    #[must_use]
    pub fn choosing(
        choice: impl Fn(&SubagentRequest) -> SubagentStep + Send + Sync + 'static,
    ) -> Self {
        Self { choice: Some(Arc::new(choice)), ..Self::new([]) }
    }

    /// All children, in the order in which they began.
    #[must_use]
    pub fn children(&self) -> Vec<FakeChild> {
        self.port.world().children.clone()
    }

    async fn serve(&self, operation: &OperationContext, request: SubagentRequest) -> End {
        check(&request)?;
        match self.place(operation, &request)? {
            Place::New(slot) => {
                let end = self.raise(operation, request).await;
                slot.settle(&end);
                end
            }
            Place::Known(mut end) => {
                let waiting = operation.bounded(end.wait_for(Option::is_some)).await;
                let end = waiting.map_err(Interruption::in_flight)?;
                end.ok().and_then(|end| end.clone()).unwrap_or_else(|| Err(lost()))
            }
        }
    }

    fn place(
        &self,
        operation: &OperationContext,
        request: &SubagentRequest,
    ) -> Result<Place, PortFailure> {
        let mut world = self.port.world();
        let name = (operation.execution_id.clone(), request.request_id.clone());
        match world.tasks.get(&name) {
            Some(task) if task.request == *request => Ok(Place::Known(task.end.clone())),
            Some(_) => {
                let message = "another task has this id; use a new one";
                Err(PortFailure::rejected(PortFailureKind::Conflict, "SUBAGENT_CONFLICT", message))
            }
            None => {
                let (sender, end) = watch::channel(None);
                world.tasks.insert(name.clone(), Task { request: request.clone(), end });
                Ok(Place::New(Slot { port: self.port.clone(), name, sender }))
            }
        }
    }

    async fn raise(&self, operation: &OperationContext, request: SubagentRequest) -> End {
        let limit = request.max_model_turns;
        let step = match &self.choice {
            Some(choice) => choice(&request),
            None => {
                let asked = format!("task {}: {}", request.request_id, shortened(&request.prompt));
                self.script.next(asked)?
            }
        };
        let operation = operation.child(OperationId::from(Uuid::new_v4()));
        let child = self.begin(request, operation.clone());
        let life = step.live(&operation, limit, || child.begin_turn());
        told(held_back(life).await.unwrap_or_else(|| Err(broke_down())))
    }

    fn begin(&self, request: SubagentRequest, operation: OperationContext) -> Life {
        let mut world = self.port.world();
        world.children.push(FakeChild { request, operation, turns: 0, is_at_work: true });
        Life { port: self.port.clone(), index: world.children.len() - 1 }
    }
}

impl Default for FakeSubagent {
    fn default() -> Self {
        Self::new([])
    }
}

/// Where a request finds its task.
enum Place {
    New(Slot),
    Known(watch::Receiver<Option<End>>),
}

/// The duty to say what became of a task. Dropped before that, the task is over, and what it did is
/// unknown.
struct Slot {
    port: FakePort<Tasks, SubagentCall>,
    name: Name,
    sender: watch::Sender<Option<End>>,
}

impl Slot {
    fn settle(self, end: &End) {
        let is_without_effect =
            |failure: &PortFailure| failure.commit == CommitDisposition::NotCommitted;
        if end.as_ref().is_err_and(is_without_effect) {
            self.port.world().tasks.remove(&self.name);
        }
        self.sender.send_replace(Some(end.clone()));
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.sender.borrow().is_none() {
            self.sender.send_replace(Some(Err(lost())));
        }
    }
}

/// A child as long as it is at work.
struct Life {
    port: FakePort<Tasks, SubagentCall>,
    index: usize,
}

impl Life {
    fn begin_turn(&self) {
        self.port.world().children[self.index].turns += 1;
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.port.world().children[self.index].is_at_work = false;
    }
}

fn check(request: &SubagentRequest) -> Result<(), PortFailure> {
    let invalid = |message: &str| {
        PortFailure::not_sent(PortFailureKind::Invalid, "SUBAGENT_INVALID", message)
    };
    if request.max_model_turns == 0 {
        return Err(invalid("the task allows no model turn; allow at least one"));
    }
    if request.prompt.trim().is_empty() {
        return Err(invalid("the task has no prompt; say what shall be done"));
    }
    Ok(())
}

/// An answer without white space at its ends, and never empty.
fn told(end: End) -> End {
    let answer = end?.answer.trim().to_owned();
    if answer.is_empty() {
        let message = "the child came back with nothing to say; say more in its task";
        let kind = PortFailureKind::Protocol;
        return Err(PortFailure::committed(kind, "SUBAGENT_EMPTY_ANSWER", message));
    }
    Ok(SubagentOutcome { answer })
}

fn lost() -> PortFailure {
    let message = "the call that ran this task was dropped; look at what it did";
    PortFailure::in_flight_unknown(PortFailureKind::Canceled, "SUBAGENT_LOST", message)
}

fn broke_down() -> PortFailure {
    let message = "the child broke down, which is a fault of its own";
    PortFailure::in_flight_unknown(PortFailureKind::Internal, "SUBAGENT_PANICKED", message)
}

/// What `work` comes to; `None` when it panicked.
async fn held_back<F: Future>(work: F) -> Option<F::Output> {
    let mut work = pin!(work);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
        Err(_panic) => Poll::Ready(None),
    })
    .await
}

#[async_trait]
impl SubagentSession for FakeSubagent {
    async fn execute(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure> {
        let call = SubagentCall::Execute(request.clone());
        let effect = self.serve(operation, request);
        self.port.call_async(operation, "subagent.execute", call, effect).await
    }
}
