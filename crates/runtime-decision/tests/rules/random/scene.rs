//! Decides what agent and task a random run has.

use std::{sync::Arc, time::Duration};

use runtime_decision::{
    AnswerSchema, Callbacks, Definition, HookDeclaration, HookPoint, MemoryDeclaration,
    NoToolPolicy, Plan, Ruling, SubAgentDeclaration, Task,
};
use runtime_ports::{ModelMessage, ModelRole};

use super::{Dice, limits};
use crate::notation::{definition, tool_with};

/// An agent with its task.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) plan: Arc<Plan>,
    pub(crate) task: Task,
}

/// Names of tools that models call; the last one does not exist.
pub(crate) const TOOLS: [&str; 8] = ["p", "q", "g", "s", "w", "ask_user", "task_finish", "none"];

const POINTS: [HookPoint; 5] = [
    HookPoint::BeforeMemoryCompact,
    HookPoint::BeforeLlm,
    HookPoint::AfterLlm,
    HookPoint::BeforeToolCall,
    HookPoint::AfterToolCall,
];

impl Scene {
    pub(crate) fn roll(dice: &mut Dice<'_>) -> Self {
        let mut definition = tooled();
        definition.limits.max_cycles = 1 + u32::try_from(dice.roll(4)).expect("few");
        definition.limits.approval_lifetime = Duration::from_millis([1_000, 40][dice.roll(2)]);
        definition.no_tool_policy =
            [NoToolPolicy::Finish, NoToolPolicy::Continue, NoToolPolicy::WaitUser][dice.roll(3)];
        definition.callbacks = Callbacks {
            before_cycle: dice.once_in(3),
            interruptions: dice.once_in(3),
            approvals: dice.once_in(3),
            resources: dice.once_in(3),
        };
        definition.answer = dice.once_in(3).then(answer);
        definition.memory = (0..dice.roll(3)).map(|number| memory(number, dice)).collect();
        if dice.once_in(2) {
            definition.context.artifact_reader = Some("p".into());
        }
        definition.context.protected_exchanges = dice.roll(3);
        definition.hooks = (0..dice.roll(3)).map(|number| hook(number, dice)).collect();
        let policy = std::mem::take(&mut definition.policy);
        let policy = match dice.roll(3) {
            0 => policy.with_rule("g", Ruling::Ask),
            1 => runtime_decision::ToolPolicy::ask_for_effects(),
            _ => policy.with_rule("q", Ruling::Deny { reason: "no".to_owned() }),
        };
        definition.policy = policy;
        if !dice.once_in(3) {
            definition.sub_agents = ["reader", "writer"].map(sub_agent).into();
            definition.delegation.max_running = 1 + dice.roll(3);
            definition.delegation.max_total = 2 + dice.roll(4);
        }
        let plan = Arc::new(Plan::new(definition).expect("a definition"));
        Self { plan, task: task(dice) }
    }
}

/// An agent with budgets that may be used up.
pub(crate) fn budgeted_scene(dice: &mut Dice<'_>) -> Scene {
    let mut scene = Scene::roll(dice);
    let mut definition = scene.plan.definition().clone();
    definition.budget = limits(dice);
    definition.max_output_tokens = [None, Some(40), Some(700)][dice.roll(3)];
    scene.plan = Arc::new(Plan::new(definition).expect("a definition"));
    scene.task.budget = limits(dice);
    scene.task.budgeted = true;
    scene.task.cost_budgeted = true;
    scene
}

fn answer() -> AnswerSchema {
    AnswerSchema { name: "n".into(), schema: Arc::new(serde_json::json!({"title": "a number"})) }
}

fn tooled() -> Definition {
    let mut definition = definition();
    definition.tools = vec![
        tool_with("p", &["read", "parallel"]),
        tool_with("q", &["parallel"]),
        tool_with("g", &["write", "parallel"]),
        tool_with("s", &[]),
        tool_with("w", &["write", "idempotent"]),
        tool_with("ask_user", &["read"]),
        tool_with("task_finish", &["read"]),
    ];
    definition
}

fn memory(number: usize, dice: &mut Dice<'_>) -> MemoryDeclaration {
    let (recalls, observes) = (dice.once_in(2), dice.once_in(2));
    MemoryDeclaration { name: format!("m{number}").into(), recalls, observes }
}

fn sub_agent(name: &str) -> SubAgentDeclaration {
    SubAgentDeclaration { name: name.into(), description: "é".into(), digest: name.into() }
}

fn hook(number: usize, dice: &mut Dice<'_>) -> HookDeclaration {
    let points = POINTS.into_iter().filter(|_| dice.once_in(2)).collect();
    HookDeclaration { name: format!("h{number}").into(), points, repeatable: !dice.once_in(3) }
}

fn task(dice: &mut Dice<'_>) -> Task {
    let mut task = Task::new("go");
    task.allow_interruption = !dice.once_in(4);
    task.native_multimodal = dice.once_in(2);
    task.compact_first = dice.once_in(6);
    if dice.once_in(3) {
        task.messages = vec![
            ModelMessage::text(ModelRole::User, "earlier"),
            ModelMessage::text(ModelRole::Assistant, "long ".repeat(100)),
            ModelMessage::text(ModelRole::User, "später"),
            ModelMessage { role: ModelRole::Assistant, content: Vec::new() },
        ];
    }
    if dice.once_in(5) {
        task.excluded_tools.insert("q".to_owned());
    }
    task
}

/// An agent in whose runs no outcome hangs on what came first.
pub(crate) fn steady_scene(dice: &mut Dice<'_>) -> Scene {
    let mut scene = Scene::roll(dice);
    let mut definition = scene.plan.definition().clone();
    definition.limits.approval_lifetime = Duration::from_secs(1_000_000);
    for hook in &mut definition.hooks {
        hook.repeatable = true;
    }
    definition.callbacks.interruptions = false;
    definition.sub_agents.clear();
    scene.plan = Arc::new(Plan::new(definition).expect("a definition"));
    scene
}
