//! Decides what agent and task the first lines of a script describe.
//!
//! Knows definitions only.

use std::{collections::BTreeMap, time::Duration};

use runtime_decision::{
    AnswerSchema, ArgumentFault, BudgetLimits, Callbacks, Definition, DelegationLimits,
    HookDeclaration, HookPoint, MemoryDeclaration, NoToolPolicy, Ruling, SubAgentDeclaration, Task,
    ToolPolicy,
};
use runtime_ports::{
    EffectClass, ModelProfile, ModelToolDefinition, Price, ToolDescriptor, ToolKind,
};
use serde_json::json;

use super::words::{message, object, text};

/// An agent, its task, and what its schemas find fault with.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) definition: Definition,
    pub(crate) task: Task,
    pub(crate) faults: BTreeMap<String, ArgumentFault>,
    /// Whether schemas never answer.
    pub(crate) waits: bool,
    /// Budgets of a run above.
    pub(crate) above: BudgetLimits,
    pub(crate) price: Option<Price>,
    /// Of the model that sums up, where it is not that of the agent's.
    pub(crate) summary_price: Option<Option<Price>>,
    /// Of the model; 0 when it is not known.
    pub(crate) window: u64,
}

impl Default for Agent {
    fn default() -> Self {
        let definition = Definition::new("agent", "model");
        Self {
            definition,
            task: Task::new("go"),
            faults: BTreeMap::new(),
            waits: false,
            above: BudgetLimits::default(),
            price: None,
            summary_price: None,
            window: 1_000,
        }
    }
}

impl Agent {
    /// Takes a line that describes the agent or its task.
    pub(crate) fn line(&mut self, words: &[&str]) {
        let rest = &words[1..];
        match words[0] {
            "tool" if rest.get(1) == Some(&"takes") => {
                let reason = format!("must be {}", rest[3..].join(" "));
                let fault = ArgumentFault { path: rest[2].to_owned(), reason };
                self.faults.insert(rest[0].to_owned(), fault);
            }
            "tool" => self.definition.tools.push(tool(rest[0], &rest[1..])),
            "policy" => self.policy(rest),
            "hook" => self.definition.hooks.push(hook(rest[0], &rest[1..])),
            "with" => self.definition.callbacks = callbacks(rest),
            "answers" => {
                let schema = json!({"title": "a number"}).into();
                self.definition.answer = Some(AnswerSchema { name: "n".into(), schema });
            }
            "cycles" => self.definition.limits.max_cycles = number(rest[0]),
            "output" => self.definition.max_output_tokens = Some(number(rest[0])),
            "budget" => self.definition.budget = limits(rest),
            "price" => self.price = Some(price(rest)),
            "summaries" if rest == ["unpriced"] => self.summary_price = Some(None),
            "summaries" => self.summary_price = Some(Some(price(&rest[1..]))),
            "above" => {
                self.above = limits(rest);
                self.task.budgeted = true;
                self.task.cost_budgeted = self.above.cost_nano_usd.is_some();
            }
            "lifetime" => {
                self.definition.limits.approval_lifetime = Duration::from_millis(number(rest[0]));
            }
            "wait" => {
                self.definition.limits.approval_timeout = Duration::from_millis(number(rest[0]));
            }
            "task_budget" => self.task.budget = limits(rest),
            "task_cycles" => self.task.max_cycles = Some(number(rest[0])),
            "schemas" => self.waits = true,
            "window" => self.window = number(rest[0]),
            "memory" => self.definition.memory.push(memory(rest[0], &rest[1..])),
            "context" => self.context(rest),
            "workspace" => self.definition.workspace = Some(rest[0].into()),
            "instructions" => self.definition.instructions = Some(text(rest).into()),
            _ => self.terms(words),
        }
    }

    /// The profile with what the script says of the model.
    pub(crate) fn profile(&self, profile: ModelProfile) -> ModelProfile {
        let (context_window_tokens, max_input_tokens) = (self.window, self.window);
        ModelProfile { context_window_tokens, max_input_tokens, price: self.price, ..profile }
    }

    /// The same of the model that sums up.
    pub(crate) fn summary_profile(&self, profile: ModelProfile) -> ModelProfile {
        let price = self.summary_price.unwrap_or(self.price);
        ModelProfile { price, ..self.profile(profile) }
    }

    fn terms(&mut self, words: &[&str]) {
        let rest = &words[1..];
        match words[0] {
            "silence" => self.definition.no_tool_policy = silence(rest[0]),
            "no" => self.task.allow_interruption = false,
            "images" => self.task.native_multimodal = true,
            "sub_agent" => {
                // The tools that it brings take more than the window of other scripts.
                self.window = self.window.max(100_000);
                let (name, description) = (rest[0].into(), text(rest).into());
                let digest = format!("digest of {}", rest[0]).into();
                let declared = SubAgentDeclaration { name, description, digest };
                self.definition.sub_agents.push(declared);
            }
            "delegates" => self.definition.delegation = delegation(rest),
            "depth" => self.task.depth = number(rest[0]),
            "without" => drop(self.task.excluded_tools.insert(rest[0].to_owned())),
            "compact" => self.task.compact_first = true,
            "prompt" => self.task.prompt = text(rest),
            "state" => self.task.shared_state = object(words, "state"),
            "meta" => self.task.metadata = object(words, "meta"),
            "agent_meta" => self.definition.metadata = object(words, "agent_meta"),
            "said" => self.task.messages.push(message(rest)),
            other => panic!("{other} says nothing about an agent"),
        }
    }

    fn context(&mut self, rest: &[&str]) {
        let context = &mut self.definition.context;
        match rest {
            ["never"] => context.compacts = false,
            ["reader", tool] => context.artifact_reader = Some((*tool).into()),
            ["summarizer", model] => context.summary_model = Some((*model).into()),
            ["summaries", "read", tokens] => {
                context.summary_prompt_tokens = Some(number(tokens));
            }
            ["protects", exchanges] => context.protected_exchanges = number(exchanges),
            other => panic!("{other:?} says nothing about a context"),
        }
    }

    fn policy(&mut self, rest: &[&str]) {
        let policy = std::mem::take(&mut self.definition.policy);
        self.definition.policy = match rest {
            ["ask", "effects"] => ToolPolicy::ask_for_effects(),
            ["ask", tool] => policy.with_rule(*tool, Ruling::Ask),
            ["allow", tool] => policy.with_rule(*tool, Ruling::Allow),
            [_, tool, reason] => policy.with_rule(*tool, Ruling::Deny { reason: text(&[reason]) }),
            _ => panic!("a policy without a tool"),
        };
    }
}

/// `tokens=9`, `cost=9`, `tool:a=1` and so on.
fn limits(words: &[&str]) -> BudgetLimits {
    let mut limits = BudgetLimits::default();
    for word in words {
        let (name, limit) = word.split_once('=').expect("a limit");
        match name {
            "tokens" => limits.tokens = Some(number(limit)),
            "uncached" => limits.uncached_input_tokens = Some(number(limit)),
            "cost" => limits.cost_nano_usd = Some(number(limit)),
            "calls" => limits.model_calls = Some(number(limit)),
            "tools" => limits.tool_calls = Some(number(limit)),
            "runs" => limits.sub_tasks = Some(number(limit)),
            name => {
                let tool = name.strip_prefix("tool:").expect("a budget");
                limits.tool_calls_by_name.insert(tool.into(), number(limit));
            }
        }
    }
    limits
}

/// Of prompts, of cached prompts, of answers; in nano-dollars a token.
fn price(words: &[&str]) -> Price {
    let each = |place: usize| number::<u64>(words[place]) * 1_000_000;
    Price { input: each(0), cached_input: Some(each(1)), cache_write: None, output: each(2) }
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().ok().expect("a number")
}

/// A tool with flags.
pub(crate) fn tool(name: &str, flags: &[&str]) -> ToolDescriptor {
    let has = |flag: &str| flags.contains(&flag);
    let effect = match flags {
        _ if has("read") => EffectClass::ReadOnly,
        _ if has("write") => EffectClass::WorkspaceWrite,
        _ if has("process") => EffectClass::Process,
        _ => EffectClass::External,
    };
    let limit = flags.iter().find_map(|flag| flag.strip_prefix("limit="));
    let version = flags.iter().find_map(|flag| flag.strip_prefix("version="));
    ToolDescriptor {
        definition: ModelToolDefinition {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({"type": "object"}),
        },
        kind: ToolKind::Function,
        effect,
        idempotent: has("idempotent"),
        parallel: has("parallel"),
        timeout: Duration::from_secs(60),
        output_limit_bytes: limit.map_or(100_000, number),
        version: version.unwrap_or("1").to_owned(),
    }
}

fn hook(name: &str, words: &[&str]) -> HookDeclaration {
    let points = words.iter().filter_map(|word| match *word {
        "before_memory_compact" => Some(HookPoint::BeforeMemoryCompact),
        "before_llm" => Some(HookPoint::BeforeLlm),
        "after_llm" => Some(HookPoint::AfterLlm),
        "before_tool_call" => Some(HookPoint::BeforeToolCall),
        "after_tool_call" => Some(HookPoint::AfterToolCall),
        _ => None,
    });
    let points = points.collect();
    HookDeclaration { name: name.into(), points, repeatable: words.contains(&"repeatable") }
}

fn memory(name: &str, words: &[&str]) -> MemoryDeclaration {
    let (recalls, observes) = (words.contains(&"recalls"), words.contains(&"observes"));
    MemoryDeclaration { name: name.into(), recalls, observes }
}

fn callbacks(words: &[&str]) -> Callbacks {
    Callbacks {
        before_cycle: words.contains(&"before_cycle"),
        interruptions: words.contains(&"interruptions"),
        approvals: words.contains(&"approvals"),
        resources: words.contains(&"resources"),
    }
}

/// `depth=1 running=2 total=3`
fn delegation(words: &[&str]) -> DelegationLimits {
    let of = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let default = DelegationLimits::default();
    DelegationLimits {
        max_depth: of("depth=").map_or(default.max_depth, number),
        max_running: of("running=").map_or(default.max_running, number),
        max_total: of("total=").map_or(default.max_total, number),
    }
}

fn silence(word: &str) -> NoToolPolicy {
    match word {
        "continue" => NoToolPolicy::Continue,
        "waits" => NoToolPolicy::WaitUser,
        _ => NoToolPolicy::Finish,
    }
}
