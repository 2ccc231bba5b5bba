//! Decides what can be said about an agent, and whether it fits together.
//!
//! Knows defaults that are safe for a stranger. Invariant: what is built can run: names, schemas
//! and limits were found good.
//!
//! Length: one documented setter for each thing that can be said.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use runtime_decision::{
    ASK_USER, AnswerSchema, ApprovalRequest, BudgetLimits, Callbacks, ContextPolicy, Definition,
    DelegationLimits, HookDeclaration, Limits, NoToolPolicy, Plan, SubAgentDeclaration,
    TASK_FINISH, ToolPolicy,
};
use runtime_ports::{
    ArtifactStore, ContextAuditSession, ExecutionSessions, GenerationOptions, InteractionSession,
    ModelSession, ResourceSession, Tool, ToolWorld, TraceSession,
};
use serde_json::{Map, Value};

use super::{
    Agent, AgentError, ApprovalProvider, AskUser, Clock, CycleInputProvider, Hook,
    InterruptionProvider, MemoryProvider, SubAgent, SystemClock, TaskFinish,
    answer::compiled,
    closed_world,
    parts::{ApprovalPrompt, Parts, Patience, Registered},
    sub_agent::{Defaults, Inherited, SubAgentParts},
};
use crate::argument_schema::ArgumentSchema;

/// How long what was told to stop is waited for.
const GRACE: Duration = Duration::from_secs(5);
/// Longest model call.
const MODEL_TIMEOUT: Duration = Duration::from_mins(30);
/// Longest hook or provider.
const CALLBACK_TIMEOUT: Duration = Duration::from_mins(5);

/// Builds an [`Agent`].
///
/// Without a word to the contrary, an agent finishes with its first answer without tool calls, has
/// eight cycles, may ask the user with the tool `ask_user`, and runs its tools without asking:
/// give it [`ToolPolicy::ask_for_effects`] where a person should decide.
#[must_use = "an agent is made by build"]
pub struct AgentBuilder {
    name: Arc<str>,
    model: Arc<dyn ModelSession>,
    model_name: Arc<str>,
    instructions: Option<Arc<str>>,
    tools: Vec<Arc<dyn Tool>>,
    policy: ToolPolicy,
    no_tool_policy: NoToolPolicy,
    limits: Limits,
    max_output_tokens: Option<u32>,
    budget: BudgetLimits,
    options: GenerationOptions,
    hooks: Vec<Arc<dyn Hook>>,
    approvals: Option<Arc<dyn ApprovalProvider>>,
    cycle_inputs: Option<Arc<dyn CycleInputProvider>>,
    interruptions: Option<Arc<dyn InterruptionProvider>>,
    interaction: Option<Arc<dyn InteractionSession>>,
    approval_prompt: Option<ApprovalPrompt>,
    world: Option<ToolWorld>,
    resources: Option<Arc<dyn ResourceSession>>,
    pub(super) answer: Option<AnswerSchema>,
    workspace: Option<Arc<str>>,
    memory: Vec<Arc<dyn MemoryProvider>>,
    context: ContextPolicy,
    summarizer: Option<Arc<dyn ModelSession>>,
    trace: Option<Arc<dyn TraceSession>>,
    context_audit: Option<Arc<dyn ContextAuditSession>>,
    clock: Arc<dyn Clock>,
    patience: Patience,
    metadata: Map<String, Value>,
    asks_user: bool,
    sub_agents: Vec<SubAgent>,
    delegation: DelegationLimits,
}

impl AgentBuilder {
    pub(super) fn new(name: Arc<str>, model: Arc<dyn ModelSession>, model_name: Arc<str>) -> Self {
        let (grace, callback) = (GRACE, CALLBACK_TIMEOUT);
        Self {
            name,
            model,
            model_name,
            instructions: None,
            tools: Vec::new(),
            policy: ToolPolicy::default(),
            no_tool_policy: NoToolPolicy::default(),
            limits: Limits::default(),
            max_output_tokens: None,
            budget: BudgetLimits::default(),
            options: GenerationOptions::default(),
            hooks: Vec::new(),
            approvals: None,
            cycle_inputs: None,
            interruptions: None,
            interaction: None,
            approval_prompt: None,
            world: None,
            resources: None,
            answer: None,
            workspace: None,
            memory: Vec::new(),
            context: ContextPolicy::default(),
            summarizer: None,
            trace: None,
            context_audit: None,
            clock: Arc::new(SystemClock),
            patience: Patience { grace, model: MODEL_TIMEOUT, callback },
            metadata: Map::new(),
            asks_user: true,
            sub_agents: Vec::new(),
            delegation: DelegationLimits::default(),
        }
    }

    /// The system prompt.
    pub fn instructions(mut self, text: impl Into<Arc<str>>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Also this tool.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.tools([Arc::new(tool) as Arc<dyn Tool>])
    }

    /// Also these tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// No tool `ask_user`: the model cannot end a run with a question.
    pub fn without_ask_user(mut self) -> Self {
        self.asks_user = false;
        self
    }

    /// Also this sub-agent. With the first one the model gets tools to give it tasks, to wait for
    /// them, and to speak to it: `create_sub_task`, `create_sub_task_batch`, `sub_task_status`,
    /// `wait_sub_tasks`, `steer_sub_task` and `continue_sub_task`.
    pub fn sub_agent(mut self, agent: SubAgent) -> Self {
        self.sub_agents.push(agent);
        self
    }

    /// How far a run may delegate; one level, sixteen sub-tasks at once and 64 in all by default.
    pub fn sub_task_limits(mut self, limits: DelegationLimits) -> Self {
        self.delegation = limits;
        self
    }

    /// Which calls run at once, ask, or are denied.
    pub fn policy(mut self, policy: ToolPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// What an answer without tool calls means. [`NoToolPolicy::Continue`] brings the tool
    /// `task_finish`.
    pub fn no_tool_policy(mut self, policy: NoToolPolicy) -> Self {
        self.no_tool_policy = policy;
        self
    }

    /// Most cycles of a run.
    pub fn max_cycles(mut self, cycles: u32) -> Self {
        self.limits.max_cycles = cycles;
        self
    }

    /// Most live time of a run, suspensions excepted.
    pub fn wall_time(mut self, limit: Duration) -> Self {
        self.limits.wall_time = Some(limit);
        self
    }

    /// How long a live run waits for one approval; ten minutes by default.
    pub fn approval_timeout(mut self, timeout: Duration) -> Self {
        self.limits.approval_timeout = timeout;
        self
    }

    /// How long an approval may be given at all, suspensions included; seven days by default.
    pub fn approval_lifetime(mut self, lifetime: Duration) -> Self {
        self.limits.approval_lifetime = lifetime;
        self
    }

    /// Most tokens of one answer.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Most that a run and all that it starts may use together. With a budget, each model call is
    /// told how long its answer may be, and whatever costs is reserved before it is done: a run that
    /// lacks something ends as `budget_exhausted`. A limit of the cost needs a model with a price.
    pub fn budget(mut self, limits: BudgetLimits) -> Self {
        self.budget = limits;
        self
    }

    /// The typed knobs of generation.
    pub fn options(mut self, options: GenerationOptions) -> Self {
        self.options = options;
        self
    }

    /// Also this hook; hooks run in the order in which they were given.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Asked about every call that could run, before a human is.
    pub fn approvals(mut self, provider: impl ApprovalProvider + 'static) -> Self {
        self.approvals = Some(Arc::new(provider));
        self
    }

    /// Asked for messages at the start of every cycle.
    pub fn before_cycle(mut self, provider: impl CycleInputProvider + 'static) -> Self {
        self.cycle_inputs = Some(Arc::new(provider));
        self
    }

    /// Asked for messages after every tool, which then interrupt the batch.
    pub fn interruptions(mut self, provider: impl InterruptionProvider + 'static) -> Self {
        self.interruptions = Some(Arc::new(provider));
        self
    }

    /// Where approvals are put to a human. Without it only the handle of a run can decide.
    pub fn interaction(mut self, interaction: Arc<dyn InteractionSession>) -> Self {
        self.interaction = Some(interaction);
        self
    }

    /// In what words an approval is put to a human; without it, the whole call in one line.
    pub fn approval_prompt(
        mut self,
        words: impl Fn(&ApprovalRequest) -> String + Send + Sync + 'static,
    ) -> Self {
        self.approval_prompt = Some(Arc::new(words));
        self
    }

    /// The ports that tools may use. Without it, tools find every port closed.
    pub fn world(mut self, world: ToolWorld) -> Self {
        self.world = Some(world);
        self
    }

    /// Loads instructions and skills when a run starts, once a run. They stand behind the system
    /// prompt in every request and are no part of the history; a run whose resources cannot be
    /// loaded, or take more than a quarter of the model's input, fails before any request.
    pub fn resources(mut self, resources: Arc<dyn ResourceSession>) -> Self {
        self.resources = Some(resources);
        self
    }

    /// Takes interaction, trace, context audit, resources and the ports of tools from the sessions
    /// of an execution.
    pub fn sessions(self, sessions: &ExecutionSessions, artifacts: Arc<dyn ArtifactStore>) -> Self {
        let world = ToolWorld {
            workspace: Arc::clone(&sessions.workspace),
            interaction: Arc::clone(&sessions.interaction),
            resources: Arc::clone(&sessions.resources),
            artifacts,
        };
        self.interaction(Arc::clone(&sessions.interaction))
            .trace(Arc::clone(&sessions.trace))
            .resources(Arc::clone(&sessions.resources))
            .context_audit(Arc::clone(&sessions.context_audit))
            .world(world)
    }

    /// Names the place where tools work: events tell it, and approvals are bound to it.
    pub fn workspace(mut self, name: impl Into<Arc<str>>) -> Self {
        self.workspace = Some(name.into());
        self
    }

    /// Also this memory; providers are called in the order in which they were given.
    pub fn memory(mut self, provider: impl MemoryProvider + 'static) -> Self {
        self.memory.push(Arc::new(provider));
        self
    }

    /// How requests are kept within the window of the model.
    pub fn context_policy(mut self, policy: ContextPolicy) -> Self {
        let summarizes = self.context.summary_model.take();
        self.context = policy;
        if self.context.summary_model.is_none() {
            self.context.summary_model = summarizes;
        }
        self
    }

    /// The model that sums up what no longer fits, in the place of the agent's own. What it reads
    /// is cut to the window of the agent's model, or to
    /// [`ContextPolicy::summary_prompt_tokens`].
    pub fn summarizer(
        mut self,
        session: Arc<dyn ModelSession>,
        model: impl Into<Arc<str>>,
    ) -> Self {
        self.summarizer = Some(session);
        self.context.summary_model = Some(model.into());
        self
    }

    /// Keeps every event but deltas.
    pub fn trace(mut self, trace: Arc<dyn TraceSession>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Keeps what each model call is given: the history, what stands for it, and exactly what is
    /// sent, before it is sent; and how the call ended. A run whose calls cannot be audited fails
    /// with [`CONTEXT_AUDIT_FAILED`](runtime_decision::CONTEXT_AUDIT_FAILED).
    pub fn context_audit(mut self, audit: Arc<dyn ContextAuditSession>) -> Self {
        self.context_audit = Some(audit);
        self
    }

    /// Where the time of events comes from.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// How long the end of a run may take, once it was told to stop; five seconds by default. What
    /// is at work then has nine tenths of it to say what it did, the trace has the rest.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.patience.grace = grace;
        self
    }

    /// Most time of one model call; thirty minutes by default.
    pub fn model_timeout(mut self, timeout: Duration) -> Self {
        self.patience.model = timeout;
        self
    }

    /// Most time of one hook or provider of messages; five minutes by default. An approval provider
    /// has the time of an approval.
    pub fn callback_timeout(mut self, timeout: Duration) -> Self {
        self.patience.callback = timeout;
        self
    }

    /// Carried into every tool call, overlaid by the task's own; never read as configuration.
    pub fn metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = metadata;
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// A name is empty, or two tools have one; a schema cannot be used; no cycle is allowed.
    pub fn build(mut self) -> Result<Agent, AgentError> {
        self.add_control_tools();
        check_name("name", &self.name)?;
        check_name("model", &self.model_name)?;
        let (declared, sub_agents) = self.built_sub_agents()?;
        let plan = Arc::new(Plan::new(self.definition(declared))?);
        let answer = compiled(self.answer.as_ref())?;
        let parts = Parts {
            delegation_schemas: delegation_schemas(&plan)?,
            plan,
            tools: register(self.tools)?,
            sub_agents,
            model: self.model,
            world: self.world.clone().unwrap_or_else(closed_world),
            own_world: self.world,
            resources: self.resources,
            answer,
            hooks: self.hooks,
            approvals: self.approvals,
            cycle_inputs: self.cycle_inputs,
            interruptions: self.interruptions,
            interaction: self.interaction,
            approval_prompt: self.approval_prompt,
            memory: self.memory,
            summarizer: self.summarizer,
            trace: self.trace,
            context_audit: self.context_audit,
            clock: self.clock,
            patience: self.patience,
        };
        Ok(Agent { parts: Arc::new(parts) })
    }

    /// The sub-agents, found good and made of what they have under this agent.
    fn built_sub_agents(&self) -> Result<(Vec<SubAgentDeclaration>, SubAgentParts), AgentError> {
        let (mut declared, mut parts) = (Vec::new(), SubAgentParts::new());
        if self.sub_agents.is_empty() {
            return Ok((declared, parts));
        }
        let (defaults, inherited) = (self.defaults(), self.inherited());
        for agent in &self.sub_agents {
            let (declaration, made) = agent.built(&defaults, &inherited)?;
            parts.insert(Arc::clone(&declaration.name), made);
            declared.push(declaration);
        }
        Ok((declared, parts))
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            model: Arc::clone(&self.model),
            model_name: Arc::clone(&self.model_name),
            tools: self.tools.clone(),
            options: self.options.clone(),
            max_output_tokens: self.max_output_tokens,
            asks_user: self.asks_user,
        }
    }

    fn inherited(&self) -> Inherited {
        Inherited {
            policy: self.policy.clone(),
            delegation: self.delegation,
            hooks: self.hooks.clone(),
            approvals: self.approvals.clone(),
            interaction: self.interaction.clone(),
            approval_prompt: self.approval_prompt.clone(),
            trace: self.trace.clone(),
            context_audit: self.context_audit.clone(),
            clock: Arc::clone(&self.clock),
            world: self.world.clone(),
            workspace: self.workspace.clone(),
            metadata: self.metadata.clone(),
            patience: self.patience,
        }
    }

    fn add_control_tools(&mut self) {
        if self.asks_user && !self.has_tool(ASK_USER) {
            self.tools.push(Arc::new(AskUser::new()));
        }
        // Advertised by runs whose policy needs it, which a task may choose.
        if !self.has_tool(TASK_FINISH) {
            self.tools.push(Arc::new(TaskFinish::new()));
        }
    }

    fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.descriptor().definition.name == name)
    }

    fn definition(&self, sub_agents: Vec<SubAgentDeclaration>) -> Definition {
        let hooks: Vec<HookDeclaration> =
            self.hooks.iter().map(|hook| hook.declaration()).collect();
        Definition {
            instructions: self.instructions.clone(),
            tools: self.tools.iter().map(|tool| tool.descriptor().clone()).collect(),
            policy: self.policy.clone(),
            no_tool_policy: self.no_tool_policy,
            limits: self.limits.clone(),
            max_output_tokens: self.max_output_tokens,
            budget: self.budget.clone(),
            options: Arc::new(self.options.clone()),
            hooks,
            callbacks: Callbacks {
                before_cycle: self.cycle_inputs.is_some(),
                interruptions: self.interruptions.is_some(),
                approvals: self.approvals.is_some(),
                resources: self.resources.is_some(),
            },
            answer: self.answer.clone(),
            memory: self.memory.iter().map(|provider| provider.declaration()).collect(),
            context: self.context.clone(),
            sub_agents,
            delegation: self.delegation,
            workspace: self.workspace.clone(),
            metadata: self.metadata.clone(),
            ..Definition::new(Arc::clone(&self.name), Arc::clone(&self.model_name))
        }
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentBuilder")
            .field("name", &self.name)
            .field("model", &self.model_name)
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

fn check_name(what: &'static str, name: &str) -> Result<(), AgentError> {
    match name.trim().is_empty() {
        true => Err(AgentError::Unnamed { what }),
        false => Ok(()),
    }
}

fn delegation_schemas(plan: &Plan) -> Result<BTreeMap<String, ArgumentSchema>, AgentError> {
    let compiled = plan.delegation_tools().iter().map(|tool| {
        let name = tool.definition.name.clone();
        match ArgumentSchema::compile(&tool.definition.input_schema) {
            Ok(schema) => Ok((name, schema)),
            Err(fault) => {
                let (path, reason) = (fault.path, fault.reason);
                Err(AgentError::InvalidSchema { tool: name, path, reason })
            }
        }
    });
    compiled.collect()
}

fn register(tools: Vec<Arc<dyn Tool>>) -> Result<BTreeMap<String, Registered>, AgentError> {
    let registered = tools.into_iter().map(|tool| {
        let definition = &tool.descriptor().definition;
        let name = definition.name.clone();
        match ArgumentSchema::compile(&definition.input_schema) {
            Ok(schema) => Ok((name, Registered { tool, schema })),
            Err(fault) => {
                let (path, reason) = (fault.path, fault.reason);
                Err(AgentError::InvalidSchema { tool: name, path, reason })
            }
        }
    });
    registered.collect()
}
