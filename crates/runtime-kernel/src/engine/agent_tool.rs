//! Decides how an agent is a tool of another one.
//!
//! Knows nothing about which loop calls it. Invariant: the run is part of the call: it has the
//! call's deadline and cancellation, and is dropped with it.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use runtime_decision::{Plan, RunResult, RunStatus, Shortage, Task};
use runtime_ports::{
    Digest, EffectClass, Interruption, ModelToolDefinition, OperationContext, PortFailure,
    PortFailureKind, Tool, ToolDescriptor, ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{Agent, RunNames, RunOptions};

/// Most time of one call.
const TIMEOUT: Duration = Duration::from_mins(30);

/// Most bytes of an answer that the calling model is shown.
const OUTPUT_LIMIT_BYTES: usize = 64 << 10;

/// An [`Agent`] as a [`Tool`], made by [`Agent::as_tool`]: each call is a run of the agent, whose
/// answer is the content of the reply.
///
/// Its argument is `task`. A run that failed, was out of its cycles, or out of a budget is the
/// error `sub_task_failed`; one that asks the user is `sub_task_wait_user`, with the question. The
/// metadata of a reply has the `run_id` and the `status` of the run. The declared effect is the
/// gravest of the agent's own tools.
///
/// The run uses the agent's own ports, policy and hooks. Of the calling run it has the operation and,
/// where that is a run of the engine, the budgets: it is one of the runs that they count, takes what
/// it uses from what is left of them, beside its own, and what it used is part of what the caller
/// [spent](runtime_decision::RunResult::spent). For children that share policy and events with their
/// parent too, give the parent sub-agents.
#[derive(Clone)]
pub struct AgentTool {
    agent: Agent,
    descriptor: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
}

impl Agent {
    /// The agent as a tool of this name, for other agents and for the tool host of the two
    /// host-driven loops. The description is for the calling model: what the agent is good at, and
    /// what a task has to say.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use in_memory_fakes::{FakeModel, ModelStep};
    /// use runtime_kernel::engine::{Agent, Task};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let searching = Arc::new(FakeModel::new([ModelStep::text("It was in 1843.")]));
    /// # let call = json!({ "task": "When were the notes on the engine published?" });
    /// # let writing = Arc::new(FakeModel::new([
    /// #     ModelStep::tool_call("c1", "ask_librarian", call),
    /// #     ModelStep::text("They were published in 1843."),
    /// # ]));
    /// let librarian = Agent::builder("librarian", searching, FakeModel::MODEL).build()?;
    /// let description = "Finds facts in books. Say what you want to know, in full.";
    /// let writer = Agent::builder("writer", writing, FakeModel::MODEL)
    ///     .tool(librarian.as_tool("ask_librarian", description))
    ///     .build()?;
    /// let result = writer.run(Task::new("When were the notes published?")).await;
    /// assert_eq!(result.final_answer.as_deref(), Some("They were published in 1843."));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_tool(&self, name: impl Into<String>, description: impl Into<String>) -> AgentTool {
        let definition = ModelToolDefinition {
            name: name.into(),
            description: description.into(),
            input_schema: schema(),
        };
        let descriptor = ToolDescriptor {
            definition,
            kind: ToolKind::Agent,
            effect: gravest(self.plan()),
            idempotent: false,
            // It neither writes state nor gives directives.
            parallel: true,
            timeout: TIMEOUT,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
            // Another agent is another tool.
            version: format!("1-{}", self.plan().digest()),
        };
        AgentTool { agent: self.clone(), descriptor }
    }
}

impl AgentTool {
    /// The same tool, each call of which may take so long; 30 minutes without it.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.descriptor.timeout = timeout;
        self
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "task": {
                "type": "string",
                "minLength": 1,
                "description": "What shall be done, in words that need no context: nothing else \
                    of your conversation is seen.",
            },
        },
        "required": ["task"],
        "additionalProperties": false,
    })
}

/// The gravest effect that a run of this plan can have by its tools.
fn gravest(plan: &Plan) -> EffectClass {
    let effects = plan.definition().tools.iter().map(|tool| tool.effect);
    effects.max_by_key(|effect| gravity(*effect)).unwrap_or(EffectClass::ReadOnly)
}

const fn gravity(effect: EffectClass) -> u8 {
    match effect {
        EffectClass::ReadOnly => 0,
        EffectClass::WorkspaceWrite => 1,
        EffectClass::Process => 2,
        EffectClass::External => 3,
    }
}

#[async_trait]
impl Tool for AgentTool {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        _world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        operation.remaining()?;
        let Some(task) = task_of(&call) else {
            let message = "arguments must be {task: string that is not blank}";
            return Ok(ToolReply::error("invalid_arguments_type", message));
        };
        let options = RunOptions { names: names(operation, &call), ..RunOptions::default() };
        let driven = self.agent.drive_for_call(task, options.within(operation.clone()));
        let (handle, run) = match driven {
            Ok(driven) => driven,
            Err(shortage) => return Ok(not_started(&shortage)),
        };
        // Nobody steers it.
        drop(handle);
        match run.await.finished() {
            Ok(result) => told(operation, &result),
            Err(suspended) => {
                let kind = PortFailureKind::Internal;
                Err(PortFailure::in_flight_unknown(kind, "SUSPENDED", suspended.to_string()))
            }
        }
    }
}

fn task_of(call: &ToolInvocation) -> Option<Task> {
    let given = call.arguments.is_object().then(|| call.arguments.clone())?;
    let Arguments { task } = serde_json::from_value(given).ok()?;
    let metadata = Map::clone(&call.metadata);
    (!task.trim().is_empty()).then(|| Task { metadata, ..Task::new(task) })
}

/// A run id that is the same for the same call, and where the run comes from.
fn names(operation: &OperationContext, call: &ToolInvocation) -> RunNames {
    let (execution, key) = (operation.execution_id.as_str(), &*call.idempotency_key);
    let digest = Digest::of_json(&(execution, operation.id.as_str(), key)).to_string();
    RunNames {
        run_id: Some(format!("task-{}", &digest[..32]).into()),
        parent_run_id: operation.parent.as_ref().map(|parent| parent.as_str().into()),
        parent_tool_call_id: Some(Arc::clone(&call.call_id)),
        ..RunNames::default()
    }
}

fn told(operation: &OperationContext, result: &RunResult) -> Result<ToolReply, PortFailure> {
    let reply = match result.status {
        RunStatus::Completed => ToolReply::text(result.final_answer.as_deref().unwrap_or_default()),
        RunStatus::WaitUser => {
            let question = result.wait_reason.as_deref().unwrap_or_default();
            ToolReply::error(
                "sub_task_wait_user",
                format!(
                    "the sub-agent cannot go on without an answer to this: {question}\nAnswer it in a \
                 new task, which has to say everything again"
                ),
            )
        }
        RunStatus::MaxCycles => failed(
            "the sub-agent came to the end of its cycles without an answer",
            result.final_answer.as_deref().map(|last| format!("it said last: {last}")),
        ),
        RunStatus::Cancelled | RunStatus::BudgetExhausted | RunStatus::Failed => {
            if let Some(over) = interrupted(operation) {
                return Err(over);
            }
            let why = result.error.as_ref().map(ToString::to_string);
            failed("the sub-agent came to no answer", why)
        }
    };
    let metadata = facts(result);
    Ok(ToolReply { metadata, ..reply })
}

fn not_started(shortage: &Shortage) -> ToolReply {
    ToolReply::error("sub_task_failed", format!("the sub-agent was not started: {shortage}"))
}

fn failed(what: &str, why: Option<String>) -> ToolReply {
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    ToolReply::error(
        "sub_task_failed",
        format!("{what}{why}\nWhat it did stays done; look before you have it done again"),
    )
}

/// The failure of a call that is over: what the run did meanwhile is unknown. Whoever waits for a
/// tool cancels it when its time is up, so that the time is looked at first.
fn interrupted(operation: &OperationContext) -> Option<PortFailure> {
    if operation.deadline <= Instant::now() {
        return Some(Interruption::DeadlineExceeded.in_flight());
    }
    operation.cancellation.is_cancelled().then(|| Interruption::Canceled.in_flight())
}

fn facts(result: &RunResult) -> Map<String, Value> {
    let mut facts = Map::new();
    facts.insert("run_id".to_owned(), Value::from(&*result.run_id));
    facts.insert("status".to_owned(), json!(result.status));
    facts
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentTool")
            .field("name", &self.descriptor.definition.name)
            .field("agent", &self.agent)
            .finish()
    }
}
