//! Decides how a run is set up for a test: fakes, a clock that follows virtual time, short names.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeModel, FakeTool, ModelStep, ToolStep};
use runtime_kernel::engine::{
    Agent, AgentBuilder, Event, EventStream, RunHandle, RunOptions, RunResult, Task, TokioClock,
    Watched,
};
use runtime_ports::{EffectClass, ModelSession, ToolDescriptor};
use serde_json::{Value, json};

pub(crate) fn agent(model: &FakeModel) -> AgentBuilder {
    agent_of(Arc::new(model.clone()))
}

pub(crate) fn agent_of(model: Arc<dyn ModelSession>) -> AgentBuilder {
    Agent::builder("tester", model, FakeModel::MODEL).clock(TokioClock::starting_at(1_000))
}

/// A call of `name` with the id `id`.
pub(crate) fn call(id: &str, name: &str) -> ModelStep {
    ModelStep::tool_call(id, name, json!({}))
}

pub(crate) fn tool(name: &str, steps: impl IntoIterator<Item = ToolStep>) -> FakeTool {
    FakeTool::new(name, steps)
}

/// A tool that is declared like the default one, but for what `change` does.
pub(crate) fn tool_like(
    name: &str,
    change: impl FnOnce(&mut ToolDescriptor),
    steps: impl IntoIterator<Item = ToolStep>,
) -> FakeTool {
    let mut descriptor = FakeTool::default_descriptor(name);
    change(&mut descriptor);
    FakeTool::described(descriptor, steps)
}

pub(crate) fn writing(descriptor: &mut ToolDescriptor) {
    (descriptor.effect, descriptor.idempotent) = (EffectClass::WorkspaceWrite, false);
}

pub(crate) fn start(agent: &Agent) -> (RunHandle, EventStream) {
    agent.watch(Task::new("do it"), RunOptions::default().run_id("run"))
}

pub(crate) async fn finish(run: &RunHandle) -> Arc<RunResult> {
    run.result().await.expect("the run lives").finished().expect("the run ends")
}

/// Takes events up to the first one of this name, and gives it.
pub(crate) async fn until(events: &mut EventStream, name: &str) -> Event {
    while let Some(watched) = events.next().await {
        if let Watched::Event(event) = watched
            && event.event.name() == name
        {
            return event.event.clone();
        }
    }
    panic!("the run ended without {name}")
}

/// The names of all further events.
pub(crate) async fn names(events: &mut EventStream) -> Vec<&'static str> {
    let mut names = Vec::new();
    while let Some(watched) = events.next().await {
        names.push(match watched {
            Watched::Event(event) => event.event.name(),
            Watched::Missed(_) => "missed",
        });
    }
    names
}

/// The history in short: `role: text`, `call name`, `result name content`.
pub(crate) fn told(result: &RunResult) -> Vec<String> {
    let history = serde_json::to_value(&result.history).expect("a history is JSON");
    let messages = history.as_array().cloned().unwrap_or_default();
    messages.iter().flat_map(told_message).collect()
}

fn told_message(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().unwrap_or_default().to_owned();
    let content = message["content"].as_array().cloned().unwrap_or_default();
    let told = content.iter().map(|item| match item["type"].as_str() {
        Some("text") => format!("{role}: {}", item["text"].as_str().unwrap_or_default()),
        Some("tool_use") => format!("call {}", item["name"].as_str().unwrap_or_default()),
        Some("tool_result") => format!("result {}", item["content"].as_str().unwrap_or_default()),
        other => format!("{role}: {other:?}"),
    });
    told.collect()
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
