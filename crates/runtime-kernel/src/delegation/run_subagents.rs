//! Decides how a delegated task becomes a run of the single-turn loop.
//!
//! Knows nothing about which host serves its tools. Invariant: a run that is told to stop is
//! cancelled at the intelligence first, so that its receipt is settled and recorded.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    Digest, OperationContext, PortFailure, PortFailureKind, SubagentOutcome, SubagentRequest,
    SubagentSession, Tool, ToolWorld,
};
use serde_json::json;
use tokio::time::timeout;
use uuid::Uuid;

use super::{
    DelegateHost, End, after_turns, answered, broke_down, interrupted, nothing_to_say,
    task_book::TaskBook, witness::Witness,
};
use crate::{
    AgentRuntime, Host, RunRequest, SubagentError, ToolHost, ToolHostError,
    engine::{closed_world, contained::contained},
};

/// How long a run may take to come to its end after it was told to.
const GRACE: Duration = Duration::from_secs(5);

/// What all runs of a [`RunSubagents`] have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTemplate {
    /// Who is billed.
    pub user_id: String,
    /// Identifier or alias of the model.
    pub model: String,
    /// Name of the reasoning effort; empty leaves it to the provider.
    pub reasoning_effort: String,
    /// Sections of the context that stand before the task.
    pub context: Vec<String>,
}

/// Makes the host of one run.
type Hosts = dyn Fn(&OperationContext, &SubagentRequest) -> Box<dyn Host> + Send + Sync;

/// A [`SubagentSession`] that gives each task to a run of the single-turn loop,
/// [`AgentRuntime::run`].
///
/// The run has the call's deadline and cancellation, and the request's limit of turns for the
/// requests of its turn. Its parent operation, at the intelligence, is derived from the operation
/// and the request; the metadata of [`AuditEvent::Started`](crate::AuditEvent::Started) names both.
/// 1,024 tasks that have ended are remembered.
///
/// # Examples
/// ```
/// # use std::{sync::Arc, time::Duration};
/// # use in_memory_fakes::{FakeIntelligence, TurnScript};
/// use runtime_kernel::{AgentRuntime, RunSubagents, RunTemplate};
/// use runtime_ports::{OperationContext, SubagentRequest, SubagentSession as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let intelligence = FakeIntelligence::new([TurnScript::new().complete("Four.")]);
/// # let (id, execution) = ("call".parse()?, "run".parse()?);
/// # let operation = OperationContext::root(id, execution, Duration::from_secs(60));
/// let runtime = AgentRuntime::new(Arc::new(intelligence));
/// let children = RunSubagents::new(runtime, RunTemplate {
///     user_id: "ada".into(),
///     model: "fake-model".into(),
///     ..RunTemplate::default()
/// });
/// let request = SubagentRequest {
///     request_id: "sum".into(),
///     prompt: "What is two and two?".into(),
///     max_model_turns: 3,
/// };
/// assert_eq!(children.execute(&operation, request).await?.answer, "Four.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RunSubagents {
    runtime: AgentRuntime,
    template: RunTemplate,
    hosts: Arc<Hosts>,
    book: TaskBook,
}

impl RunSubagents {
    /// Children without tools.
    #[must_use]
    pub fn new(runtime: AgentRuntime, template: RunTemplate) -> Self {
        let no_tools = |operation: &OperationContext, _: &SubagentRequest| {
            let tools = ToolHost::new(Vec::new(), closed_world());
            let tools = tools.expect("no tools are no trouble");
            Box::new(DelegateHost::new(operation.clone(), tools)) as Box<dyn Host>
        };
        Self { runtime, template, hosts: Arc::new(no_tools), book: TaskBook::default() }
    }

    /// The same children with these tools, whose description is put before the context.
    ///
    /// # Errors
    /// What is said of [`ToolHost::new`].
    pub fn with_tools(
        mut self,
        tools: Vec<Arc<dyn Tool>>,
        world: ToolWorld,
    ) -> Result<Self, ToolHostError> {
        let description =
            ToolHost::new(tools.clone(), world.clone())?.tool_description().to_owned();
        self.template.context.insert(0, description);
        Ok(self.hosted_by(move |operation, _| {
            let tools = ToolHost::new(tools.clone(), world.clone());
            let tools = tools.expect("the same tools were taken before");
            Box::new(DelegateHost::new(operation.clone(), tools))
        }))
    }

    /// The same children, each before a host that this makes: of the operation of its run, and of
    /// its request.
    #[must_use]
    pub fn hosted_by(
        mut self,
        hosts: impl Fn(&OperationContext, &SubagentRequest) -> Box<dyn Host> + Send + Sync + 'static,
    ) -> Self {
        self.hosts = Arc::new(hosts);
        self
    }

    async fn run(&self, operation: &OperationContext, request: SubagentRequest) -> End {
        let parent = parent_operation(operation, &request);
        // What the child is given to work under never ends its parent.
        let own = operation.child(parent.into());
        let mut host = Witness::before((self.hosts)(&own, &request));
        let requests = u32::try_from(request.max_model_turns).unwrap_or(u32::MAX);
        let run_request = self.request(&own, parent, request);
        let ended = {
            let run = self.runtime.run_within(run_request, requests, &mut host);
            let mut run = Box::pin(contained(run));
            match own.bounded(&mut run).await {
                Ok(ended) => Some(ended),
                Err(_interruption) => self.stop(parent, &mut run).await,
            }
        };
        let over = interrupted(operation);
        match (ended, over) {
            (Some(Ok(Ok(result))), _) => answered(&result.answer),
            (_, Some(over)) => Err(over),
            (Some(Ok(Err(error))), None) => Err(failure_of(&error, host.was_answered())),
            (Some(Err(_)) | None, None) => Err(broke_down()),
        }
    }

    /// Tells a run to stop, and gives it the grace to settle what it owes. `None`: it did not.
    async fn stop<F>(&self, parent: Uuid, run: &mut F) -> Option<F::Output>
    where
        F: Future + Unpin,
    {
        let cancelling = self.runtime.intelligence.cancel(parent);
        let stopping = async {
            // The run goes on while it is cancelled; it may be what the cancelling waits for.
            let (_cancelled, ended) = tokio::join!(cancelling, run);
            ended
        };
        timeout(GRACE, stopping).await.ok()
    }

    fn request(
        &self,
        operation: &OperationContext,
        parent_operation_id: Uuid,
        request: SubagentRequest,
    ) -> RunRequest {
        let RunTemplate { user_id, model, reasoning_effort, context } = self.template.clone();
        RunRequest {
            user_id,
            parent_operation_id,
            model,
            reasoning_effort,
            context,
            task: request.prompt,
            timeout: operation.remaining().ok(),
            start_metadata: json!({
                "execution_id": operation.execution_id,
                "operation_id": operation.parent,
                "request_id": request.request_id,
            }),
        }
    }
}

/// A name for the intelligence, the same for the same request of the same operation.
fn parent_operation(operation: &OperationContext, request: &SubagentRequest) -> Uuid {
    let (execution, id) = (operation.execution_id.as_str(), operation.id.as_str());
    let digest = Digest::of_json(&(execution, id, &request.request_id));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.as_bytes()[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

fn failure_of(error: &anyhow::Error, was_answered: bool) -> PortFailure {
    if let Some(own) = cause::<SubagentError>(error) {
        return of_the_loop(own);
    }
    match cause::<PortFailure>(error) {
        Some(failure) => after_turns(was_answered, failure.clone()),
        // The host said what, maybe with payload.
        None => {
            let message = "the host of the sub-agent failed; look at what the sub-agent did";
            PortFailure::in_flight_unknown(PortFailureKind::Internal, "sub_task_host", message)
        }
    }
}

fn cause<E: std::error::Error + 'static>(error: &anyhow::Error) -> Option<&E> {
    error.chain().find_map(|cause| cause.downcast_ref::<E>())
}

fn of_the_loop(error: &SubagentError) -> PortFailure {
    let message = error.to_string();
    match error {
        SubagentError::InputTooLarge { .. } => {
            PortFailure::not_sent(PortFailureKind::ContextOverflow, "sub_task_too_large", message)
        }
        SubagentError::EmptyAnswer
        | SubagentError::EmptyAnswerAfterTools
        | SubagentError::EmptyCapture => nothing_to_say(),
        SubagentError::NoTerminalEvent => {
            PortFailure::in_flight_unknown(PortFailureKind::Protocol, "sub_task_no_end", message)
        }
        // The host said why, maybe with payload.
        _ => {
            let message = "the host could not take the answer as the contents it asked for";
            PortFailure::committed(PortFailureKind::Internal, "sub_task_capture", message)
        }
    }
}

#[async_trait]
impl SubagentSession for RunSubagents {
    async fn execute(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure> {
        self.book.once(operation, request, |request| self.run(operation, request)).await
    }
}

impl fmt::Debug for RunSubagents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunSubagents")
            .field("template", &self.template)
            .finish_non_exhaustive()
    }
}
