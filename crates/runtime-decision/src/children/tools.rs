//! Decides with which tools a model delegates, and how they are described to it.
//!
//! Knows names, descriptions and schemas; refuses to know what a call brings about. Invariant: the
//! same sub-agents give the same tools, byte for byte.

use std::time::Duration;

use runtime_ports::{EffectClass, ModelToolDefinition, ToolDescriptor, ToolKind};
use serde_json::{Value, json};

use super::{DelegationLimits, SubAgentDeclaration};

/// Name of the tool that starts one sub-task.
pub const CREATE_SUB_TASK: &str = "create_sub_task";
/// Name of the tool that starts several.
pub const CREATE_SUB_TASK_BATCH: &str = "create_sub_task_batch";
/// Name of the tool that tells how sub-tasks stand.
pub const SUB_TASK_STATUS: &str = "sub_task_status";
/// Name of the tool that waits for sub-tasks.
pub const WAIT_SUB_TASKS: &str = "wait_sub_tasks";
/// Name of the tool that says something to a sub-task at work.
pub const STEER_SUB_TASK: &str = "steer_sub_task";
/// Name of the tool that goes on with a sub-task that has ended.
pub const CONTINUE_SUB_TASK: &str = "continue_sub_task";

/// Longest wait that a model may ask for, in seconds: a day.
pub(super) const MAX_WAIT_SECONDS: u64 = 24 * 60 * 60;

/// As long as a run may take at all; a child has limits of its own.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// Most bytes of a result: its answers are cut so that it stays below.
const OUTPUT_LIMIT_BYTES: usize = 1 << 20;

/// A tool of the engine's own that delegates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DelegationTool {
    Create,
    CreateBatch,
    Status,
    Wait,
    Steer,
    Continue,
}

const ALL: [DelegationTool; 6] = [
    DelegationTool::Create,
    DelegationTool::CreateBatch,
    DelegationTool::Status,
    DelegationTool::Wait,
    DelegationTool::Steer,
    DelegationTool::Continue,
];

impl DelegationTool {
    /// The tool of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        ALL.into_iter().find(|tool| tool.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Create => CREATE_SUB_TASK,
            Self::CreateBatch => CREATE_SUB_TASK_BATCH,
            Self::Status => SUB_TASK_STATUS,
            Self::Wait => WAIT_SUB_TASKS,
            Self::Steer => STEER_SUB_TASK,
            Self::Continue => CONTINUE_SUB_TASK,
        }
    }

    /// Those that start or go on with a sub-task are agents to whoever looks at a descriptor.
    const fn kind(self) -> ToolKind {
        match self {
            Self::Create | Self::CreateBatch | Self::Continue => ToolKind::Agent,
            Self::Status | Self::Wait | Self::Steer => ToolKind::BackgroundAgent,
        }
    }

    fn definition(self, agents: &[SubAgentDeclaration], most: usize) -> ModelToolDefinition {
        let (description, properties, required) = match self {
            Self::Create => create(agents),
            Self::CreateBatch => create_batch(agents, most),
            Self::Status => status(),
            Self::Wait => wait(),
            Self::Steer => steer(),
            Self::Continue => go_on(),
        };
        ModelToolDefinition {
            name: self.name().to_owned(),
            description,
            input_schema: object(&properties, required),
        }
    }
}

/// The tools of an agent that may delegate to `agents`; none without one.
pub(crate) fn descriptors(
    agents: &[SubAgentDeclaration],
    limits: DelegationLimits,
) -> Vec<ToolDescriptor> {
    if agents.is_empty() {
        return Vec::new();
    }
    let described = |tool: DelegationTool| ToolDescriptor {
        definition: tool.definition(agents, limits.max_running),
        kind: tool.kind(),
        // Delegating changes nothing by itself: each call that a child makes is ruled on its own,
        // by a policy at least as strict.
        effect: EffectClass::ReadOnly,
        idempotent: false,
        parallel: true,
        timeout: LONGEST,
        output_limit_bytes: OUTPUT_LIMIT_BYTES,
        version: "1".to_owned(),
    };
    ALL.into_iter().map(described).collect()
}

type Described = (String, Value, &'static [&'static str]);

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The sub-agents, one a line.
fn listed(agents: &[SubAgentDeclaration]) -> String {
    agents.iter().map(|agent| format!("\n- {}: {}", agent.name, agent.description)).collect()
}

fn order(agents: &[SubAgentDeclaration]) -> Value {
    let names: Vec<_> = agents.iter().map(|agent| &*agent.name).collect();
    json!({
        "agent_name": { "type": "string", "enum": names, "description": "Which sub-agent." },
        "task_description": {
            "type": "string",
            "minLength": 1,
            "description": "The whole task. The sub-agent sees nothing of this conversation.",
        },
    })
}

fn background() -> Value {
    json!({
        "type": "boolean",
        "description": "True to go on at once. The result is told when it is there.",
    })
}

fn create(agents: &[SubAgentDeclaration]) -> Described {
    let description = format!(
        "Gives a task to a sub-agent and waits for its result, unless it runs in the background. \
         The sub-agents:{}",
        listed(agents)
    );
    let mut properties = order(agents);
    properties["background"] = background();
    (description, properties, &["agent_name", "task_description"])
}

fn create_batch(agents: &[SubAgentDeclaration], most: usize) -> Described {
    let description = format!(
        "Gives several tasks to sub-agents, which work side by side, and waits for all results, \
         which come in the order of the tasks. At most {most} are at work at once. The \
         sub-agents:{}",
        listed(agents)
    );
    let item = object(&order(agents), &["agent_name", "task_description"]);
    let properties = json!({
        "tasks": { "type": "array", "minItems": 1, "items": item },
        "background": background(),
    });
    (description, properties, &["tasks"])
}

fn task_ids() -> Value {
    json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Which sub-tasks; all of them when it is left out.",
    })
}

fn status() -> Described {
    let description = "Tells how sub-tasks stand, with results that were not told before.";
    (description.to_owned(), json!({ "task_ids": task_ids() }), &[])
}

fn wait() -> Described {
    let description = "Waits until sub-tasks have ended, at most so long, and tells how they \
        stand, with results that were not told before. Something said by the user ends the wait.";
    let timeout = json!({
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_WAIT_SECONDS,
        "description": "Most seconds of the whole wait.",
    });
    let properties = json!({ "task_ids": task_ids(), "timeout_seconds": timeout });
    (description.to_owned(), properties, &["timeout_seconds"])
}

fn to_task(what: &str) -> Value {
    json!({
        "task_id": { "type": "string", "description": "Which sub-task." },
        "message": { "type": "string", "minLength": 1, "description": what },
    })
}

fn steer() -> Described {
    let description = "Says something to a sub-task that is at work.";
    (description.to_owned(), to_task("What it is told."), &["task_id", "message"])
}

fn go_on() -> Described {
    let description = "Goes on with a sub-task that has ended, with all that it knows, and waits \
        for its result: to answer what it asked, or to ask for more.";
    (description.to_owned(), to_task("What it is told."), &["task_id", "message"])
}
