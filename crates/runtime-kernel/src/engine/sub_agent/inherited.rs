//! Decides what a sub-agent takes from the agent that it is given to.
//!
//! Knows what agents are made of. Invariant: of two policies the stricter counts, and whoever
//! decides about the calls of a parent decides about those of its children.

mod both;

use std::{collections::BTreeMap, sync::Arc};

use runtime_decision::{
    Callbacks, Definition, DelegationLimits, HookDeclaration, Plan, SubAgentDeclaration, ToolPolicy,
};
use runtime_ports::{
    ContextAuditSession, GenerationOptions, InteractionSession, ModelSession, Tool, ToolWorld,
    TraceSession,
};
use serde_json::{Map, Value};

use self::both::both;
use super::{Made, Own, SubAgent};
use crate::engine::{
    Agent, AgentError, ApprovalProvider, Clock, Hook,
    closed_world::closed_world,
    parts::{ApprovalPrompt, Parts, Patience},
};

/// The parts of sub-agents, by their names.
pub(in crate::engine) type SubAgentParts = BTreeMap<Arc<str>, Arc<Parts>>;

/// What a sub-agent has where it says nothing itself.
pub(in crate::engine) struct Defaults {
    pub(in crate::engine) model: Arc<dyn ModelSession>,
    pub(in crate::engine) model_name: Arc<str>,
    pub(in crate::engine) tools: Vec<Arc<dyn Tool>>,
    pub(in crate::engine) options: GenerationOptions,
    pub(in crate::engine) max_output_tokens: Option<u32>,
    pub(in crate::engine) asks_user: bool,
}

/// What a sub-agent has whatever it says.
pub(in crate::engine) struct Inherited {
    pub(in crate::engine) policy: ToolPolicy,
    pub(in crate::engine) delegation: DelegationLimits,
    pub(in crate::engine) hooks: Vec<Arc<dyn Hook>>,
    pub(in crate::engine) approvals: Option<Arc<dyn ApprovalProvider>>,
    pub(in crate::engine) interaction: Option<Arc<dyn InteractionSession>>,
    pub(in crate::engine) approval_prompt: Option<ApprovalPrompt>,
    pub(in crate::engine) trace: Option<Arc<dyn TraceSession>>,
    pub(in crate::engine) context_audit: Option<Arc<dyn ContextAuditSession>>,
    pub(in crate::engine) clock: Arc<dyn Clock>,
    pub(in crate::engine) world: Option<ToolWorld>,
    pub(in crate::engine) workspace: Option<Arc<str>>,
    pub(in crate::engine) metadata: Map<String, Value>,
    pub(in crate::engine) patience: Patience,
}

impl SubAgent {
    /// What it is made of under a parent, and how it is declared there.
    pub(in crate::engine) fn built(
        &self,
        defaults: &Defaults,
        inherited: &Inherited,
    ) -> Result<(SubAgentDeclaration, Arc<Parts>), AgentError> {
        let agent = match &self.made {
            Made::New(own) => self.agent(own, defaults, inherited)?,
            Made::Agent(agent) => agent.clone(),
        };
        let parts = inherited.parts(&agent.parts)?;
        Ok((declaration(&self.name, &self.description, &parts), parts))
    }

    fn agent(
        &self,
        own: &Own,
        defaults: &Defaults,
        inherited: &Inherited,
    ) -> Result<Agent, AgentError> {
        let (model, model_name) = own
            .model
            .clone()
            .unwrap_or_else(|| (Arc::clone(&defaults.model), Arc::clone(&defaults.model_name)));
        let mut builder = Agent::builder(Arc::clone(&self.name), model, model_name)
            .policy(own.policy.clone())
            .tools(own.tools.clone().unwrap_or_else(|| defaults.tools.clone()))
            .options(own.options.clone().unwrap_or_else(|| defaults.options.clone()))
            .sub_task_limits(inherited.delegation);
        builder = own
            .sub_agents
            .iter()
            .cloned()
            .fold(builder, |builder, sub_agent| builder.sub_agent(sub_agent));
        if let Some(text) = &own.instructions {
            builder = builder.instructions(Arc::clone(text));
        }
        if let Some(tokens) = own.max_output_tokens.or(defaults.max_output_tokens) {
            builder = builder.max_output_tokens(tokens);
        }
        if let Some(cycles) = own.max_cycles {
            builder = builder.max_cycles(cycles);
        }
        if let Some(limit) = own.wall_time {
            builder = builder.wall_time(limit);
        }
        if !defaults.asks_user {
            builder = builder.without_ask_user();
        }
        builder.build()
    }
}

impl Inherited {
    /// The same agent under a parent.
    fn parts(&self, own: &Parts) -> Result<Arc<Parts>, AgentError> {
        let below = self.below(own);
        let sub_agents: Result<SubAgentParts, AgentError> = own
            .sub_agents
            .iter()
            .map(|(name, parts)| Ok((Arc::clone(name), below.parts(parts)?)))
            .collect();
        let sub_agents = sub_agents?;
        let plan = Arc::new(Plan::new(below.definition(own, &sub_agents))?);
        Ok(Arc::new(Parts {
            plan,
            model: Arc::clone(&own.model),
            tools: own.tools.clone(),
            delegation_schemas: own.delegation_schemas.clone(),
            sub_agents,
            memory: own.memory.clone(),
            summarizer: own.summarizer.clone(),
            resources: own.resources.clone(),
            answer: own.answer.clone(),
            world: below.world.clone().unwrap_or_else(closed_world),
            own_world: below.world,
            hooks: below.hooks,
            approvals: below.approvals,
            cycle_inputs: own.cycle_inputs.clone(),
            interruptions: own.interruptions.clone(),
            interaction: below.interaction,
            approval_prompt: below.approval_prompt,
            trace: below.trace,
            context_audit: below.context_audit,
            clock: below.clock,
            patience: below.patience,
        }))
    }

    /// What the agent has under its parent, and gives to sub-agents of its own.
    fn below(&self, own: &Parts) -> Self {
        let definition = own.plan.definition();
        let tools = definition.tools.iter().chain(own.plan.delegation_tools());
        let mut metadata = self.metadata.clone();
        metadata.extend(definition.metadata.clone());
        Self {
            policy: self.policy.stricter(&definition.policy, tools),
            delegation: DelegationLimits {
                max_depth: self.delegation.max_depth.min(definition.delegation.max_depth),
                ..definition.delegation
            },
            hooks: self.hooks.iter().chain(&own.hooks).cloned().collect(),
            approvals: both(self.approvals.clone(), own.approvals.clone()),
            interaction: self.interaction.clone().or_else(|| own.interaction.clone()),
            approval_prompt: self.approval_prompt.clone().or_else(|| own.approval_prompt.clone()),
            trace: self.trace.clone().or_else(|| own.trace.clone()),
            context_audit: self.context_audit.clone().or_else(|| own.context_audit.clone()),
            clock: Arc::clone(&self.clock),
            world: own.own_world.clone().or_else(|| self.world.clone()),
            workspace: definition.workspace.clone().or_else(|| self.workspace.clone()),
            metadata,
            // A child that is told to stop is heard before its parent's time is over.
            patience: Patience { grace: self.patience.grace * 3 / 4, ..own.patience },
        }
    }

    fn definition(&self, own: &Parts, sub_agents: &SubAgentParts) -> Definition {
        let definition = own.plan.definition();
        let hooks: Vec<HookDeclaration> =
            self.hooks.iter().map(|hook| hook.declaration()).collect();
        let declared = definition.sub_agents.iter().filter_map(|agent| {
            let parts = sub_agents.get(&agent.name)?;
            Some(declaration(&agent.name, &agent.description, parts))
        });
        Definition {
            policy: self.policy.clone(),
            delegation: self.delegation,
            sub_agents: declared.collect(),
            hooks,
            callbacks: Callbacks { approvals: self.approvals.is_some(), ..definition.callbacks },
            workspace: self.workspace.clone(),
            metadata: self.metadata.clone(),
            ..definition.clone()
        }
    }
}

fn declaration(name: &Arc<str>, description: &Arc<str>, parts: &Parts) -> SubAgentDeclaration {
    SubAgentDeclaration {
        name: Arc::clone(name),
        description: Arc::clone(description),
        digest: parts.plan.digest().to_string().into(),
    }
}
