//! Decides what an agent is, apart from any run of it.
//!
//! Knows values only: a hook or a provider is a declaration here, its code lives with the driver.
//! Invariant: a definition that was taken in is planned once, so that every request of every run
//! advertises the same tools in the same order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use runtime_ports::{
    Digest, GenerationOptions, ModelToolDefinition, ResponseFormat, ToolDescriptor, ToolSet,
    estimate_text_tokens,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AnswerSchema, BudgetLimits, ContextPolicy, DefinitionError, DelegationLimits, HookDeclaration,
    MemoryDeclaration, SubAgentDeclaration, ToolPolicy,
    children::{DelegationTool, descriptors},
};

/// Name of the tool with which a model ends its task under [`NoToolPolicy::Continue`].
pub const TASK_FINISH: &str = "task_finish";

/// Name of the tool with which a model asks the user, which ends the run as waiting.
pub const ASK_USER: &str = "ask_user";

/// The single bridge of the host-driven loops; no tool of the engine may have this name.
pub const BRIDGE_TOOL: &str = "call_ktool";

/// Longest name of a tool, in bytes.
pub const TOOL_NAME_MAX_BYTES: usize = 256;

/// What an answer without tool calls means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoToolPolicy {
    /// The task is done, and the answer is its result.
    #[default]
    Finish,
    /// The model is told to go on until it calls [`TASK_FINISH`].
    Continue,
    /// The model waits for the user, and the answer says what for.
    WaitUser,
}

/// How far a run may go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Most cycles of a run; at least 1.
    pub max_cycles: u32,
    /// Most time of a run while it is live, suspensions excepted; `None` for no limit.
    pub wall_time: Option<Duration>,
    /// How long a live run waits for one approval; never for ever.
    pub approval_timeout: Duration,
    /// How long an approval may be given at all, suspensions included.
    pub approval_lifetime: Duration,
}

impl Default for Limits {
    /// Eight cycles, no wall time; ten minutes for an approval, seven days while suspended.
    fn default() -> Self {
        Self {
            max_cycles: 8,
            wall_time: None,
            approval_timeout: Duration::from_mins(10),
            approval_lifetime: Duration::from_hours(7 * 24),
        }
    }
}

/// Which callbacks of the host exist; an effect is issued for no other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Callbacks {
    /// A provider of messages at the start of a cycle.
    pub before_cycle: bool,
    /// A provider of messages that interrupt a batch of tools.
    pub interruptions: bool,
    /// A provider that decides on approvals.
    pub approvals: bool,
    /// Resources that are loaded when a run starts.
    pub resources: bool,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// Its name.
    pub agent_name: Arc<str>,
    /// The model, in the words of the session that serves it.
    pub model: Arc<str>,
    /// The system prompt, if there is one.
    pub instructions: Option<Arc<str>>,
    /// What its tools declare.
    pub tools: Vec<ToolDescriptor>,
    /// Which calls run at once, ask, or are denied.
    pub policy: ToolPolicy,
    /// What an answer without tool calls means.
    pub no_tool_policy: NoToolPolicy,
    /// How far a run may go.
    pub limits: Limits,
    /// Most tokens of one answer; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// The typed knobs of generation.
    pub options: Arc<GenerationOptions>,
    /// The hooks, in the order in which they run.
    pub hooks: Vec<HookDeclaration>,
    /// The other callbacks of the host.
    pub callbacks: Callbacks,
    /// The memory providers, in the order in which they are called.
    pub memory: Vec<MemoryDeclaration>,
    /// How requests are kept within the window of the model.
    pub context: ContextPolicy,
    /// Most that a run and its sub-runs may use together.
    pub budget: BudgetLimits,
    /// The agents that a run may delegate to.
    pub sub_agents: Vec<SubAgentDeclaration>,
    /// How far a run may delegate.
    pub delegation: DelegationLimits,
    /// The form of the answer, if it must have one.
    pub answer: Option<AnswerSchema>,
    /// Names the place where tools work; part of what an approval is bound to.
    pub workspace: Option<Arc<str>>,
    /// Carried into every tool call, overlaid by the task's own; never read as configuration.
    pub metadata: Map<String, Value>,
}

impl Definition {
    /// An agent without tools, hooks and limits of its own.
    pub fn new(agent_name: impl Into<Arc<str>>, model: impl Into<Arc<str>>) -> Self {
        Self {
            agent_name: agent_name.into(),
            model: model.into(),
            instructions: None,
            tools: Vec::new(),
            policy: ToolPolicy::default(),
            no_tool_policy: NoToolPolicy::default(),
            limits: Limits::default(),
            max_output_tokens: None,
            options: Arc::default(),
            hooks: Vec::new(),
            callbacks: Callbacks::default(),
            memory: Vec::new(),
            context: ContextPolicy::default(),
            budget: BudgetLimits::default(),
            sub_agents: Vec::new(),
            delegation: DelegationLimits::default(),
            answer: None,
            workspace: None,
            metadata: Map::new(),
        }
    }
}

/// A definition that was found good, with what is computed once for all of its runs.
#[derive(Debug)]
pub struct Plan {
    definition: Definition,
    digest: Digest,
    /// The tools of the engine's own that delegate; none without sub-agents.
    delegation_tools: Vec<ToolDescriptor>,
    advertised: [[[ToolSet; 2]; 2]; 2],
    tool_tokens: Vec<u64>,
    places: BTreeMap<String, usize>,
    formed: Arc<GenerationOptions>,
}

impl Plan {
    /// Checks a definition and puts its tools into the order of their names.
    ///
    /// # Errors
    /// A name that is empty, too long, reserved or there twice; no cycle allowed; the policy
    /// [`NoToolPolicy::Continue`] without the tool [`TASK_FINISH`]; an answer without a plain name.
    pub fn new(mut definition: Definition) -> Result<Self, DefinitionError> {
        definition.tools.sort_by(|left, right| left.definition.name.cmp(&right.definition.name));
        let places = places(&definition.tools)?;
        check_limits(&definition)?;
        check_answer(&definition)?;
        check_sub_agents(&definition)?;
        let digest = Digest::of_json(&definition);
        let delegation_tools = descriptors(&definition.sub_agents, definition.delegation);
        let either = [false, true];
        let tools = |asks, finishes, delegates: bool| {
            let own = if delegates { &*delegation_tools } else { &[] };
            advertised(&definition.tools, own, asks, finishes)
        };
        let advertised = either.map(|asks| {
            either.map(|finishes| either.map(|delegates| tools(asks, finishes, delegates)))
        });
        let formed = formed(&definition);
        let all = definition.tools.iter().chain(&delegation_tools);
        let tool_tokens = all.map(|tool| tokens(&tool.definition)).collect();
        Ok(Self { definition, digest, delegation_tools, advertised, tool_tokens, places, formed })
    }

    /// The definition, its tools in the order of their names.
    #[must_use]
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Names the definition; a run that was stored goes on under the same one only.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// What a tool declares, be it one of the agent or one with which its model delegates.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolDescriptor> {
        let own = self.places.get(name).map(|place| &self.definition.tools[*place]);
        own.or_else(|| self.delegation_tools.iter().find(|tool| tool.definition.name == name))
    }

    /// Tokens that a request with these tools is taken to spend on them.
    pub(crate) fn tool_tokens(&self, tools: &ToolSet) -> u64 {
        let known = tools.iter().filter_map(|tool| self.place(&tool.name));
        known.map(|place| self.tool_tokens[place]).fold(0, u64::saturating_add)
    }

    /// Place of a tool among those of the agent, and then those of the engine's own.
    fn place(&self, name: &str) -> Option<usize> {
        let own = || self.delegation_tools.iter().position(|tool| tool.definition.name == name);
        let place = self.places.get(name).copied();
        place.or_else(|| own().map(|place| place + self.definition.tools.len()))
    }

    /// The tools of the engine's own with which the model delegates; none without sub-agents.
    #[must_use]
    pub fn delegation_tools(&self) -> &[ToolDescriptor] {
        &self.delegation_tools
    }

    /// The tools that a run advertises, in the order of their names: whether it asks the user,
    /// whether its model ends the task itself, and whether it may delegate, decides about the tools
    /// for that. All runs share them.
    pub(crate) const fn advertised(&self, asks: bool, finishes: bool, delegates: bool) -> &ToolSet {
        &self.advertised[asks as usize][finishes as usize][delegates as usize]
    }

    /// The options of a request. Some servers cannot have both tools and a form.
    pub(crate) fn options(&self, tools: &ToolSet) -> &Arc<GenerationOptions> {
        match tools.iter().next() {
            None => &self.formed,
            Some(_) => &self.definition.options,
        }
    }
}

/// The options of a request without tools, with the form of the answer where the host asks for none.
fn formed(definition: &Definition) -> Arc<GenerationOptions> {
    let format = definition.answer.as_ref().and_then(AnswerSchema::response_format);
    match format {
        Some(response_format) if definition.options.response_format == ResponseFormat::Text => {
            let options = GenerationOptions::clone(&definition.options);
            Arc::new(GenerationOptions { response_format, ..options })
        }
        _ => Arc::clone(&definition.options),
    }
}

fn tokens(tool: &ModelToolDefinition) -> u64 {
    let schema = estimate_text_tokens(&tool.input_schema.to_string());
    let words = [&tool.name, &tool.description].map(|text| estimate_text_tokens(text));
    words.into_iter().fold(schema, u64::saturating_add)
}

fn advertised(
    tools: &[ToolDescriptor],
    delegation_tools: &[ToolDescriptor],
    asks: bool,
    finishes: bool,
) -> ToolSet {
    let keeps = |name: &str| (asks || name != ASK_USER) && (finishes || name != TASK_FINISH);
    let all = tools.iter().chain(delegation_tools).map(|tool| &tool.definition);
    let mut kept: Vec<_> = all.filter(|tool| keeps(&tool.name)).collect();
    kept.sort_by(|left, right| left.name.cmp(&right.name));
    kept.into_iter().cloned().collect()
}

fn places(tools: &[ToolDescriptor]) -> Result<BTreeMap<String, usize>, DefinitionError> {
    let mut places = BTreeMap::new();
    for (place, tool) in tools.iter().enumerate() {
        let name = tool.definition.name.clone();
        if name.is_empty() || name.len() > TOOL_NAME_MAX_BYTES {
            return Err(DefinitionError::InvalidToolName { bytes: name.len() });
        }
        if name == BRIDGE_TOOL {
            return Err(DefinitionError::ReservedToolName { name });
        }
        if places.insert(name.clone(), place).is_some() {
            return Err(DefinitionError::DuplicateToolName { name });
        }
    }
    Ok(places)
}

fn check_answer(definition: &Definition) -> Result<(), DefinitionError> {
    match &definition.answer {
        Some(answer) if !answer.has_a_name() => {
            Err(DefinitionError::InvalidAnswerName { name: (*answer.name).to_owned() })
        }
        _ => Ok(()),
    }
}

fn check_sub_agents(definition: &Definition) -> Result<(), DefinitionError> {
    let mut names = BTreeSet::new();
    for agent in &definition.sub_agents {
        let name = agent.name.to_string();
        if name.trim().is_empty() || name.len() > TOOL_NAME_MAX_BYTES {
            return Err(DefinitionError::InvalidSubAgentName { bytes: name.len() });
        }
        if !names.insert(&agent.name) {
            return Err(DefinitionError::DuplicateSubAgentName { name });
        }
    }
    let tools = definition.tools.iter().map(|tool| &tool.definition.name);
    let mut taken = tools.filter(|name| DelegationTool::of(name).is_some());
    match taken.next().filter(|_| !names.is_empty()) {
        Some(name) => Err(DefinitionError::DelegationToolName { name: name.clone() }),
        None => Ok(()),
    }
}

fn check_limits(definition: &Definition) -> Result<(), DefinitionError> {
    if definition.limits.max_cycles == 0 {
        return Err(DefinitionError::NoCycles);
    }
    if definition.no_tool_policy == NoToolPolicy::Continue
        && !definition.tools.iter().any(|tool| tool.definition.name == TASK_FINISH)
    {
        return Err(DefinitionError::NoWayToFinish);
    }
    Ok(())
}
