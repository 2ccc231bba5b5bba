//! Decides how a delegated task becomes a run of an engine agent.
//!
//! Knows nothing about what the agent is made of. Invariant: the run is part of the call: polled by
//! it, bounded by its operation, dropped with it.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    Digest, OperationContext, PortFailure, PortFailureKind, SubagentOutcome, SubagentRequest,
    SubagentSession,
};

use super::{
    End, after_turns, answered, broke_down, interrupted, no_turn_left, task_book::TaskBook,
};
use crate::engine::{
    Agent, RunError, RunOptions, RunResult, RunStatus, Shortage, Task, contained::contained,
};

/// A [`SubagentSession`] that gives each task to a run of an [`Agent`].
///
/// The run has the call's deadline and cancellation, the request's limit of turns for its cycles,
/// and an id that is derived from the operation and the request. Nobody is there to answer a
/// question, so the child has no tool `ask_user`. Within a call of a tool of an engine run, it shares
/// the budgets of that run, as an [`AgentTool`](crate::engine::AgentTool) does. 1,024 tasks that
/// have ended are remembered.
///
/// # Examples
/// ```
/// # use std::{sync::Arc, time::Duration};
/// # use in_memory_fakes::{FakeModel, ModelStep};
/// use runtime_kernel::engine::{Agent, EngineSubagents};
/// use runtime_ports::{OperationContext, SubagentRequest, SubagentSession as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = Arc::new(FakeModel::new([ModelStep::text("Four.")]));
/// # let (id, execution) = ("call".parse()?, "run".parse()?);
/// # let operation = OperationContext::root(id, execution, Duration::from_secs(60));
/// let agent = Agent::builder("calculator", model, FakeModel::MODEL).build()?;
/// let children = EngineSubagents::new(agent);
/// let request = SubagentRequest {
///     request_id: "sum".into(),
///     prompt: "What is two and two?".into(),
///     max_model_turns: 3,
/// };
/// let outcome = children.execute(&operation, request.clone()).await?;
/// assert_eq!(outcome.answer, "Four.");
/// // The same task again is not run again.
/// assert_eq!(children.execute(&operation, request).await?, outcome);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct EngineSubagents {
    agent: Agent,
    book: TaskBook,
}

impl EngineSubagents {
    /// Children that are runs of this agent.
    #[must_use]
    pub fn new(agent: Agent) -> Self {
        Self { agent, book: TaskBook::default() }
    }

    async fn run(&self, operation: &OperationContext, request: SubagentRequest) -> End {
        let options =
            RunOptions::default().run_id(run_id(operation, &request)).within(operation.clone());
        let cycles = u32::try_from(request.max_model_turns).unwrap_or(u32::MAX);
        let task = Task {
            max_cycles: Some(cycles),
            allow_interruption: false,
            ..Task::new(request.prompt)
        };
        let (handle, run) =
            self.agent.drive_for_call(task, options).map_err(|shortage| not_started(&shortage))?;
        // Nobody steers it.
        drop(handle);
        match contained(run).await {
            Ok(end) => match end.finished() {
                Ok(result) => end_of(operation, &result),
                // Nobody could suspend it.
                Err(_) => Err(broke_down()),
            },
            Err(_panicked) => Err(broke_down()),
        }
    }
}

fn run_id(operation: &OperationContext, request: &SubagentRequest) -> Arc<str> {
    let (execution, id) = (operation.execution_id.as_str(), operation.id.as_str());
    let digest = Digest::of_json(&(execution, id, &request.request_id)).to_string();
    format!("task-{}", &digest[..32]).into()
}

fn end_of(operation: &OperationContext, result: &RunResult) -> End {
    match result.status {
        RunStatus::Completed => answered(result.final_answer.as_deref().unwrap_or_default()),
        RunStatus::MaxCycles => Err(no_turn_left()),
        RunStatus::WaitUser => Err(asks()),
        RunStatus::Cancelled => Err(interrupted(operation).unwrap_or_else(stopped)),
        RunStatus::BudgetExhausted => Err(interrupted(operation).unwrap_or_else(out_of_budget)),
        RunStatus::Failed => Err(failure_of(result)),
    }
}

fn failure_of(result: &RunResult) -> PortFailure {
    let was_answered = !result.cycles.is_empty();
    match &result.error {
        Some(RunError { failure: Some(failure), .. }) => {
            after_turns(was_answered, PortFailure::clone(failure))
        }
        Some(error) => {
            let kind = kind_of(&error.code);
            let failure = PortFailure::not_sent(kind, &*error.code, &*error.message);
            after_turns(was_answered, failure)
        }
        None => broke_down(),
    }
}

/// Whose fault it was: the model broke the rules, or something of ours did.
fn kind_of(code: &str) -> PortFailureKind {
    match code {
        "model_empty" | "model_output_limit" | "content_filtered" | "model_incomplete"
        | "answer_invalid" => PortFailureKind::Protocol,
        "context_too_large" | "compaction_exhausted" => PortFailureKind::ContextOverflow,
        _ => PortFailureKind::Internal,
    }
}

fn asks() -> PortFailure {
    let message = "the sub-agent asks the user, whom it cannot reach; say more in its task";
    PortFailure::committed(PortFailureKind::Unavailable, "sub_task_wait_user", message)
}

fn stopped() -> PortFailure {
    let message = "the sub-agent was cancelled; look at what it did";
    PortFailure::in_flight_unknown(PortFailureKind::Canceled, "CANCELED", message)
}

fn not_started(shortage: &Shortage) -> PortFailure {
    let message = format!("the sub-agent was not started: {shortage}");
    PortFailure::not_sent(PortFailureKind::Forbidden, "sub_task_budget", message)
}

fn out_of_budget() -> PortFailure {
    let message = "the sub-agent used up a budget; look at what it did";
    PortFailure::in_flight_unknown(PortFailureKind::Forbidden, "sub_task_budget", message)
}

#[async_trait]
impl SubagentSession for EngineSubagents {
    async fn execute(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure> {
        self.book.once(operation, request, |request| self.run(operation, request)).await
    }
}

impl fmt::Debug for EngineSubagents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EngineSubagents")
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}
