//! Decides what the golden scenarios are: how an agent is staged, and what happens to its run from
//! outside.
//!
//! Knows nothing about how a run is driven or disturbed. Invariant: a scenario that is not
//! disturbed ends by itself.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeInteraction, FakeModel, FakeTrace, HumanStep, ModelStep};
use runtime_kernel::engine::{
    AgentBuilder, Call, CallEdits, CallResult, CallbackError, Edit, Hook, HookContext,
    HookDeclaration, HookPoint, HookResult, RequestEdits, ResultEdits, ToolPolicy,
    cycle_inputs_from, interruptions_from,
};
use runtime_ports::{
    ModelContent, ModelMessage, ModelResponse, ModelRole, ToolDirective, ToolSet, Transcript,
};
use serde_json::{Map, json};

use crate::{
    halting::Halting,
    probe::{Deed, Probe, World},
    stage::{agent_of, call, ms},
};

/// What somebody does to a run when it tells something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    Approve,
    Deny,
    Steer(&'static str),
    Suspend,
}

/// An agent whose run is about to start.
pub(crate) struct Staged {
    pub(crate) builder: AgentBuilder,
    pub(crate) model: FakeModel,
    pub(crate) world: Arc<World>,
    pub(crate) trace: Option<FakeTrace>,
    /// At each event of this name: this. An act that is not the last of its name happens once.
    pub(crate) acts: Vec<(&'static str, Act)>,
    pub(crate) deltas: bool,
}

/// A golden scenario.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) stage: fn() -> Staged,
}

pub(crate) const GOLDEN: &[Scenario] = &[
    Scenario { name: "plain answer", stage: plain_answer },
    Scenario { name: "tool cycle", stage: tool_cycle },
    Scenario { name: "parallel group", stage: parallel_group },
    Scenario { name: "approval by handle", stage: approval_by_handle },
    Scenario { name: "approval by interaction", stage: approval_by_interaction },
    Scenario { name: "denial", stage: denial },
    Scenario { name: "steering in a batch", stage: steering_in_a_batch },
    Scenario { name: "providers of messages", stage: providers_of_messages },
    Scenario { name: "hooks at all points", stage: hooks_at_all_points },
    Scenario { name: "suspend and resume", stage: suspend_and_resume },
    Scenario { name: "suspend at work", stage: suspend_at_work },
    Scenario { name: "streaming", stage: streaming },
    Scenario { name: "failing tools", stage: failing_tools },
    Scenario { name: "hanging tools", stage: hanging_tools },
    Scenario { name: "trace", stage: traced },
];

fn staged(steps: impl IntoIterator<Item = ModelStep>) -> Staged {
    let model = FakeModel::new(steps);
    model.unchecked();
    let builder = agent_of(Arc::new(Halting(model.clone())));
    let (world, acts) = (Arc::default(), Vec::new());
    Staged { builder, model, world, trace: None, acts, deltas: false }
}

impl Staged {
    fn tool(mut self, name: &str, deed: Deed) -> Self {
        self.builder = self.builder.tool(Probe::new(&self.world, name, deed).reading());
        self
    }

    fn parallel(mut self, name: &str, deed: Deed) -> Self {
        self.builder = self.builder.tool(Probe::new(&self.world, name, deed).reading().parallel());
        self
    }

    fn gated(mut self, name: &str, deed: Deed) -> Self {
        self.builder = self.builder.tool(Probe::new(&self.world, name, deed).parallel());
        self.builder = self.builder.policy(ToolPolicy::ask_for_effects());
        self
    }

    fn with(mut self, change: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Self {
        self.builder = change(self.builder);
        self
    }

    fn at(mut self, event: &'static str, act: Act) -> Self {
        self.acts.push((event, act));
        self
    }
}

fn plain_answer() -> Staged {
    staged([ModelStep::text("Hello.").delay(ms(20))])
}

fn tool_cycle() -> Staged {
    staged([call("c1", "work"), call("c2", "work"), ModelStep::text("done")])
        .tool("work", Deed::Works(ms(40)))
}

/// An answer that calls all of these; the ids begin with `id`.
fn group(id: &str, names: &[&str]) -> ModelStep {
    let calls = names.iter().enumerate();
    calls.fold(ModelStep::empty(), |step, (at, name)| {
        step.and_call(format!("{id}{at}"), *name, json!({}))
    })
}

fn parallel_group() -> Staged {
    staged([group("c", &["read", "write", "read", "alone", "write"]), ModelStep::text("done")])
        .parallel("read", Deed::Works(ms(40)))
        .gated("write", Deed::Works(ms(20)))
        .tool("alone", Deed::Works(ms(10)))
        .at("approval_requested", Act::Approve)
}

fn approval_by_handle() -> Staged {
    staged([call("c1", "write"), ModelStep::text("written")])
        .gated("write", Deed::Works(ms(40)))
        .at("approval_requested", Act::Approve)
}

fn approval_by_interaction() -> Staged {
    let human = FakeInteraction::new([HumanStep::approve(), HumanStep::deny("no more")]);
    human.unchecked();
    staged([group("c", &["write", "write"]), ModelStep::text("half of it")])
        .gated("write", Deed::Works(ms(40)))
        .with(|builder| builder.interaction(Arc::new(Halting(human))))
}

fn denial() -> Staged {
    staged([group("c", &["write", "read"]), ModelStep::text("as you like")])
        .gated("write", Deed::Works(ms(40)))
        .parallel("read", Deed::Works(ms(40)))
        .at("approval_requested", Act::Deny)
}

fn steering_in_a_batch() -> Staged {
    staged([group("c", &["work", "work", "work"]), ModelStep::text("as you like")])
        .tool("work", Deed::Works(ms(40)))
        .at("tool_call_started", Act::Steer("stop that"))
        .at("tool_result", Act::Steer("and think"))
        .at("cycle_llm_response", Act::Steer("again"))
}

fn providers_of_messages() -> Staged {
    let say = |text: &str| vec![ModelMessage::text(ModelRole::User, text)];
    let inputs = cycle_inputs_from(move |_, view| async move {
        tokio::task::yield_now().await;
        Ok(say(&format!("cycle {}", view.cycle)))
    });
    let interruptions = interruptions_from(move |_, view| async move {
        tokio::time::sleep(ms(1)).await;
        Ok(if view.cycle == 1 { say("look here") } else { Vec::new() })
    });
    staged([group("c", &["work", "work"]), call("c9", "work"), ModelStep::text("seen")])
        .tool("work", Deed::Works(ms(40)))
        .with(|builder| builder.before_cycle(inputs).interruptions(interruptions))
}

fn hooks_at_all_points() -> Staged {
    staged([group("c", &["work", "given"]), ModelStep::text("hooked")])
        .tool("work", Deed::Works(ms(40)))
        .tool("given", Deed::Panics)
        .with(|builder| builder.hook(Everywhere))
}

fn suspend_and_resume() -> Staged {
    staged([group("c", &["read", "write", "write"]), ModelStep::text("written")])
        .parallel("read", Deed::Works(ms(40)))
        .gated("write", Deed::Works(ms(20)))
        .at("approval_requested", Act::Suspend)
}

fn suspend_at_work() -> Staged {
    let model = ModelStep::text("late").delay(ms(4_000));
    staged([group("c", &["work", "deaf"]), model, ModelStep::text("again")])
        .parallel("work", Deed::Works(ms(4_000)))
        .parallel("deaf", Deed::Deaf(ms(1_000)))
        .at("tool_call_started", Act::Suspend)
        .at("run_resumed", Act::Steer("welcome back"))
        .at("cycle_started", Act::Suspend)
}

fn streaming() -> Staged {
    let first = call("c1", "work").and_text("I look.").in_pieces(2);
    let mut staged = staged([first, ModelStep::text("Seen it all.").in_pieces(3)])
        .tool("work", Deed::Works(ms(40)));
    staged.deltas = true;
    staged
}

fn failing_tools() -> Staged {
    let names = ["refuses", "loses", "panics", "nobody", "works"];
    staged([group("c", &names), group("d", &["works"]), ModelStep::text("so it is")])
        .parallel("refuses", Deed::Refuses)
        .parallel("loses", Deed::LosesItsReply)
        .parallel("panics", Deed::Panics)
        .tool("works", Deed::Works(ms(40)))
}

fn hanging_tools() -> Staged {
    let mut staged =
        staged([group("c", &["hangs", "drops", "told", "deaf"]), ModelStep::text("well")]);
    let deeds = [
        ("hangs", Deed::Hangs),
        ("drops", Deed::DropsBadly),
        ("told", Deed::RepliesWhenTold),
        ("deaf", Deed::Deaf(ms(90_000))),
    ];
    for (name, deed) in deeds {
        let probe = Probe::new(&staged.world, name, deed).parallel().within(ms(60_000));
        staged.builder = staged.builder.tool(probe);
    }
    staged
}

fn traced() -> Staged {
    let trace = FakeTrace::new();
    let mut staged = tool_cycle().with(|builder| builder.trace(Arc::new(Halting(trace.clone()))));
    staged.trace = Some(trace);
    staged
}

/// A hook that runs, and does something, at each of the five points.
struct Everywhere;

#[async_trait]
impl Hook for Everywhere {
    fn declaration(&self) -> HookDeclaration {
        let points = vec![
            HookPoint::BeforeMemoryCompact,
            HookPoint::BeforeLlm,
            HookPoint::AfterLlm,
            HookPoint::BeforeToolCall,
            HookPoint::AfterToolCall,
        ];
        HookDeclaration { name: "everywhere".into(), points, repeatable: false }
    }

    async fn before_memory_compact(
        &self,
        _: &HookContext,
        messages: &Transcript,
    ) -> Result<Vec<Edit<ModelMessage>>, CallbackError> {
        tokio::task::yield_now().await;
        let item = ModelMessage::text(ModelRole::User, "be brief");
        Ok(vec![Edit::Insert { at: messages.len(), item }])
    }

    async fn before_llm(
        &self,
        _: &HookContext,
        _: &Transcript,
        _: &ToolSet,
    ) -> Result<RequestEdits, CallbackError> {
        tokio::time::sleep(ms(1)).await;
        Ok(RequestEdits::default())
    }

    async fn after_llm(
        &self,
        _: &HookContext,
        _: &ModelResponse,
    ) -> Result<Vec<Edit<ModelContent>>, CallbackError> {
        tokio::time::sleep(ms(1)).await;
        Ok(Vec::new())
    }

    async fn before_tool_call(
        &self,
        _: &HookContext,
        call: &Call,
    ) -> Result<CallEdits, CallbackError> {
        tokio::time::sleep(ms(1)).await;
        let given = HookResult {
            tool_call_id: "pending".to_owned(),
            content: "given by the hook".to_owned(),
            error_code: Some("given".to_owned()),
            directive: ToolDirective::Continue,
            metadata: Map::new(),
        };
        let result = (&*call.name == "given").then_some(given);
        Ok(CallEdits { result, ..CallEdits::default() })
    }

    async fn after_tool_call(
        &self,
        _: &HookContext,
        _: &Call,
        _: &CallResult,
    ) -> Result<ResultEdits, CallbackError> {
        tokio::time::sleep(ms(1)).await;
        Ok(ResultEdits::default())
    }
}
