//! Decides how a run of an agent begins, or goes on.
//!
//! Knows nothing about what the agent is made of. Invariant: no run of an agent changes the agent.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use runtime_decision::{
    Happened, LoadError, Machine, Plan, RunIdentity, RunResult, Shortage, Task,
};
use runtime_ports::ModelSession;
use tracing::Instrument as _;

use super::{
    AgentBuilder, EventStream, RunEnd, RunHandle, RunOptions, SuspendedRun,
    caller::Caller,
    driver::{Above, Driver},
    parts::Parts,
    run_budget::RunBudget,
    run_handle::Owner,
};

/// An agent: what it is told, what it may use, and how far it may go. Cloning costs a reference
/// count; any number of runs may be under way at once.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use in_memory_fakes::{FakeModel, ModelStep};
/// use runtime_kernel::engine::{Agent, RunStatus, Task};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Arc::new(FakeModel::new([ModelStep::text("Hello, Ada.")]));
/// let agent = Agent::builder("greeter", model, FakeModel::MODEL)
///     .instructions("Greet whoever comes.")
///     .max_cycles(3)
///     .build()?;
/// let result = agent.run(Task::new("I am Ada.")).await;
/// assert_eq!(result.status, RunStatus::Completed);
/// assert_eq!(result.final_answer.as_deref(), Some("Hello, Ada."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(super) parts: Arc<Parts>,
}

impl Agent {
    /// Begins an agent of this name that asks `model_name` of `model`.
    pub fn builder(
        name: impl Into<Arc<str>>,
        model: Arc<dyn ModelSession>,
        model_name: impl Into<Arc<str>>,
    ) -> AgentBuilder {
        AgentBuilder::new(name.into(), model, model_name.into())
    }

    /// The definition, with its digest.
    #[must_use]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.parts.plan
    }

    /// Runs a task to its end, within the task of the caller, for whoever wants nothing but the
    /// result. Calls that the policy gates need an approval provider or an interaction here, since
    /// there is no handle to decide with: they are denied when the time for an answer is over.
    ///
    /// # Cancellation
    /// Dropping the future drops the run, as it does for [`Run`].
    pub async fn run(&self, task: Task) -> Arc<RunResult> {
        let (handle, run) = self.drive(task, RunOptions::default());
        drop(handle);
        finished(run.await)
    }

    /// Starts a run as a task of the present tokio runtime. The task belongs to the handle: when
    /// the last clone of it is dropped, the run is dropped too, and what was in flight is unknown.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(&self, task: Task) -> RunHandle {
        self.start_with(task, RunOptions::default())
    }

    /// Like [`Self::start`], under these options.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start_with(&self, task: Task, options: RunOptions) -> RunHandle {
        let (handle, run) = self.drive(task, options);
        handle.owning(run)
    }

    /// Like [`Self::start_with`], with a stream of what the run tells, from the first event on.
    /// Pieces of answers are in it when the options ask for them.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn watch(&self, task: Task, options: RunOptions) -> (RunHandle, EventStream) {
        let watching = options.watching;
        let (handle, run) = self.drive(task, options);
        let events = handle.events(watching);
        (handle.owning(run), events)
    }

    /// Makes a run that makes progress while the caller polls it, in whatever task that is.
    pub fn drive(&self, task: Task, options: RunOptions) -> (RunHandle, Run) {
        self.drive_under(task, options, Above::default())
    }

    /// The same for a call of a tool: below the run that the call is of, if there is one, whose
    /// budgets it shares and to which it tells what it uses. Fails when those allow no more runs.
    pub(crate) fn drive_for_call(
        &self,
        task: Task,
        options: RunOptions,
    ) -> Result<(RunHandle, Run), Shortage> {
        let Some(caller) = Caller::present() else { return Ok(self.drive(task, options)) };
        let account = Some(caller.take_run()?);
        let above = Above { budget: caller.budget.as_ref(), account, ..Above::default() };
        Ok(self.drive_under(task, options, above))
    }

    fn drive_under(
        &self,
        mut task: Task,
        options: RunOptions,
        above: Above<'_>,
    ) -> (RunHandle, Run) {
        let identity = self.identity(&task, &options);
        task.budget = task.budget.tightened_by(&options.budget);
        RunBudget::tell(above.budget, &mut task);
        let machine = Machine::new(Arc::clone(&self.parts.plan), identity, task);
        self.driven(machine, Happened::Started, options, above)
    }

    /// Goes on with a suspended run, here or in another process than before. It keeps its run id.
    /// The agent has to be built as it was: name, model, instructions, tools, policy, limits, hooks
    /// and callbacks.
    ///
    /// # Errors
    /// It is damaged, of another version, or of another agent.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn resume(&self, run: &SuspendedRun) -> Result<RunHandle, LoadError> {
        let (handle, run) = self.drive_resumed(run, RunOptions::default())?;
        Ok(handle.owning(run))
    }

    /// Like [`Self::resume`], with a stream of what the run tells from there on.
    ///
    /// # Errors
    /// It is damaged, of another version, or of another agent.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn watch_resumed(
        &self,
        run: &SuspendedRun,
        options: RunOptions,
    ) -> Result<(RunHandle, EventStream), LoadError> {
        let watching = options.watching;
        let (handle, run) = self.drive_resumed(run, options)?;
        let events = handle.events(watching);
        Ok((handle.owning(run), events))
    }

    /// Like [`Self::resume`], for a run that the caller polls. The names and the budget of `options`
    /// are ignored: the run has its own.
    ///
    /// # Errors
    /// It is damaged, of another version, or of another agent.
    pub fn drive_resumed(
        &self,
        run: &SuspendedRun,
        options: RunOptions,
    ) -> Result<(RunHandle, Run), LoadError> {
        let machine = self.loaded(run)?;
        let first = match machine.is_new() {
            true => Happened::Started,
            false => Happened::Resumed,
        };
        Ok(self.driven(machine, first, options, Above::default()))
    }

    /// Ends a suspended run for good, as cancelled, and keeps the events of that in the trace,
    /// where there is one.
    ///
    /// # Errors
    /// It is damaged, of another version, or of another agent; or it was stored while something was
    /// in flight, which only resuming it settles.
    pub async fn cancel_suspended(&self, run: &SuspendedRun) -> Result<Arc<RunResult>, LoadError> {
        let machine = self.loaded(run)?;
        if !machine.is_suspended() && !machine.is_new() && machine.status().is_none() {
            let reason = "it was not suspended; resume it and cancel it then".to_owned();
            return Err(LoadError::Malformed { reason });
        }
        let options = RunOptions::default();
        let (_handle, run) = self.driven(machine, Happened::Cancelled, options, Above::default());
        Ok(finished(run.await))
    }

    fn loaded(&self, run: &SuspendedRun) -> Result<Machine, LoadError> {
        Machine::from_json(Arc::clone(&self.parts.plan), run.as_json())
    }

    fn driven(
        &self,
        machine: Machine,
        first: Happened,
        options: RunOptions,
        above: Above<'_>,
    ) -> (RunHandle, Run) {
        let span = tracing::info_span!("run", run_id = %machine.identity().run_id);
        let (handle, driver) = Driver::new(Arc::clone(&self.parts), machine, options, above);
        let future = Box::pin(Box::new(driver).run(first).instrument(span));
        (handle, Run { future })
    }

    fn identity(&self, task: &Task, options: &RunOptions) -> RunIdentity {
        let agent_name = Arc::clone(&self.parts.plan.definition().agent_name);
        options.names.identity(Arc::clone(&task.task_id), agent_name)
    }
}

/// The result of a run that nobody could suspend.
fn finished(end: RunEnd) -> Arc<RunResult> {
    end.finished().expect("nobody holds a handle that could suspend the run")
}

impl RunHandle {
    fn owning(self, run: Run) -> Self {
        let task = tokio::spawn(run);
        self.owned_by(Owner::of(task))
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let definition = self.parts.plan.definition();
        formatter
            .debug_struct("Agent")
            .field("name", &definition.agent_name)
            .field("model", &definition.model)
            .field("tools", &definition.tools.len())
            .finish_non_exhaustive()
    }
}

/// A run that makes progress while it is polled.
///
/// # Cancellation
/// Dropping it stops the run where it is. Tools and calls that were in flight are dropped, their
/// effects are unknown, and no event tells of it: cancel the run through its handle instead.
#[must_use = "a run makes progress only while it is polled"]
pub struct Run {
    future: Pin<Box<dyn Future<Output = RunEnd> + Send>>,
}

impl Future for Run {
    type Output = RunEnd;

    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<RunEnd> {
        self.future.as_mut().poll(context)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Run").finish_non_exhaustive()
    }
}
