//! Decides what a sub-agent is made of: what is said of it, and what it takes from its parent.
//!
//! Knows how agents are built; refuses to know when one is used. Invariants: a sub-agent may do
//! nothing without asking that its parent may not; it is found good when its parent is built.

mod inherited;

use std::{fmt, sync::Arc, time::Duration};

use runtime_decision::ToolPolicy;
use runtime_ports::{GenerationOptions, ModelSession, Tool};

pub(super) use self::inherited::{Defaults, Inherited, SubAgentParts};
use super::Agent;

/// An agent that another one may give tasks to, by its name.
///
/// It takes from the agent that it is given to: the model, the tools and the options where it has
/// none of its own; the policy, of which the stricter counts, call by call; who is asked about
/// calls, hooks, trace, clock, and the ports of tools. It has its own transcript and counters.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use in_memory_fakes::{FakeModel, ModelStep};
/// use runtime_kernel::engine::{Agent, SubAgent, Task};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let order = serde_json::json!({ "agent_name": "reader", "task_description": "Read it." });
/// # let model = Arc::new(FakeModel::new([
/// #     ModelStep::tool_call("c1", "create_sub_task", order),
/// #     ModelStep::text("It is about tea."),
/// #     ModelStep::text("Tea."),
/// # ]));
/// # let model_name = FakeModel::MODEL;
/// let reader = SubAgent::new("reader", "Reads a text and says what it is about.")
///     .instructions("Read what you are told to, and answer in one sentence.")
///     .max_cycles(4);
/// let agent = Agent::builder("clerk", model, model_name).sub_agent(reader).build()?;
/// let result = agent.run(Task::new("What is it about?")).await;
/// assert_eq!(result.final_answer.as_deref(), Some("Tea."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a sub-agent is given to an agent"]
pub struct SubAgent {
    name: Arc<str>,
    description: Arc<str>,
    made: Made,
}

#[derive(Clone)]
enum Made {
    /// With what its parent has where it says nothing itself.
    New(Box<Own>),
    /// An agent that stands by itself.
    Agent(Agent),
}

/// What is said of a sub-agent itself.
#[derive(Clone, Default)]
struct Own {
    instructions: Option<Arc<str>>,
    tools: Option<Vec<Arc<dyn Tool>>>,
    model: Option<(Arc<dyn ModelSession>, Arc<str>)>,
    options: Option<GenerationOptions>,
    max_output_tokens: Option<u32>,
    policy: ToolPolicy,
    max_cycles: Option<u32>,
    wall_time: Option<Duration>,
    sub_agents: Vec<SubAgent>,
}

impl SubAgent {
    /// A sub-agent that the model chooses by its name, since the description says what it is for.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<Arc<str>>) -> Self {
        let made = Made::New(Box::default());
        Self { name: name.into(), description: description.into(), made }
    }

    /// An agent that was built by itself, with its own model, instructions, tools and limits: the
    /// other methods change nothing of it.
    pub fn from_agent(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        agent: Agent,
    ) -> Self {
        Self { name: name.into(), description: description.into(), made: Made::Agent(agent) }
    }

    /// The system prompt.
    pub fn instructions(self, text: impl Into<Arc<str>>) -> Self {
        self.with(|own| own.instructions = Some(text.into()))
    }

    /// These tools, and not those of the parent; none is a choice too.
    pub fn tools(self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.with(|own| own.tools.get_or_insert_default().extend(tools))
    }

    /// Also this tool, and not those of the parent.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.tools([Arc::new(tool) as Arc<dyn Tool>])
    }

    /// The model that is asked, in the place of the parent's.
    pub fn model(self, session: Arc<dyn ModelSession>, name: impl Into<Arc<str>>) -> Self {
        self.with(|own| own.model = Some((session, name.into())))
    }

    /// The typed knobs of generation, in the place of the parent's.
    pub fn options(self, options: GenerationOptions) -> Self {
        self.with(|own| own.options = Some(options))
    }

    /// Most tokens of one answer, in the place of the parent's limit.
    pub fn max_output_tokens(self, tokens: u32) -> Self {
        self.with(|own| own.max_output_tokens = Some(tokens))
    }

    /// A policy beside the parent's: of both the stricter counts.
    pub fn policy(self, policy: ToolPolicy) -> Self {
        self.with(|own| own.policy = policy)
    }

    /// Most cycles of one run of it; eight by default.
    pub fn max_cycles(self, cycles: u32) -> Self {
        self.with(|own| own.max_cycles = Some(cycles))
    }

    /// Most live time of one run of it.
    pub fn wall_time(self, limit: Duration) -> Self {
        self.with(|own| own.wall_time = Some(limit))
    }

    /// Also a sub-agent of its own, seen when the limit of depth allows.
    pub fn sub_agent(self, agent: Self) -> Self {
        self.with(|own| own.sub_agents.push(agent))
    }

    /// An agent that stands by itself says all of this when it is built.
    fn with(mut self, change: impl FnOnce(&mut Own)) -> Self {
        if let Made::New(own) = &mut self.made {
            change(own);
        }
        self
    }
}

impl fmt::Debug for SubAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SubAgent")
            .field("name", &self.name)
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}
