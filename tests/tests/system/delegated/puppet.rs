//! Decides what a model answers that plays the children of the scenarios.
//!
//! Knows which child it plays by the prompt, and in which of its turns by the calls in the history;
//! refuses to know which loop asks. A loop that has one bridge for its tools is answered with calls
//! of that.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use port_conformance::subagents::{Child, ChildEnd, Nursery};
use runtime_ports::{
    ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse, ModelRole, ModelSession,
    OperationContext, PortFailure, PortFailureKind, TokenUsage,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::tools::{ASK, WORK};

const BRIDGE: &str = "call_ktool";
const WINDOW_TOKENS: u64 = 1_000_000;

/// A model that plays children.
pub(super) struct Puppet(Mutex<Stage>);

struct Stage {
    plan: HashMap<String, Vec<Child>>,
    runs: Vec<Run>,
}

struct Run {
    prompt: String,
    child: Child,
    turns: usize,
    /// The operation of the turn that it is in.
    at_work: Option<OperationContext>,
}

impl Puppet {
    pub(super) fn playing(children: Vec<(String, Child)>) -> Self {
        let mut plan: HashMap<String, Vec<Child>> = HashMap::new();
        children
            .into_iter()
            .for_each(|(prompt, child)| plan.entry(prompt).or_default().push(child));
        Self(Mutex::new(Stage { plan, runs: Vec::new() }))
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run that asks, and its turn, from 1.
    fn begin(&self, request: &ModelRequest) -> Result<(usize, usize), PortFailure> {
        let last_call = calls(request).last();
        let place = last_call.and_then(|call| call.split_once('/'));
        let place = place.and_then(|(run, turn)| run.parse().ok().zip(turn.parse().ok()));
        if let Some((run, turn)) = place {
            return Ok((run, turn));
        }
        let prompt = prompt(request).unwrap_or_default();
        let mut stage = self.stage();
        let child = match stage.plan.get_mut(&prompt) {
            Some(children) if children.len() > 1 => children.remove(0),
            Some(children) => children[0].clone(),
            None => return Err(unknown()),
        };
        stage.runs.push(Run { prompt, child, turns: 0, at_work: None });
        Ok((stage.runs.len() - 1, 1))
    }
}

fn unknown() -> PortFailure {
    PortFailure::not_sent(PortFailureKind::NotFound, "NO_CHILD", "no child has this prompt")
}

/// What the child was told.
fn prompt(request: &ModelRequest) -> Option<String> {
    let mut users = request.messages.messages().filter(|message| message.role == ModelRole::User);
    users.next()?.content.iter().find_map(|content| match content {
        ModelContent::Text { text } => Some(text.clone()),
        _ => None,
    })
}

/// The ids of the calls in the history, each the run and the turn that follows.
fn calls(request: &ModelRequest) -> impl Iterator<Item = &str> {
    let contents = request.messages.messages().flat_map(|message| &message.content);
    contents.filter_map(|content| match content {
        ModelContent::ToolUse { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

fn call(request: &ModelRequest, id: String, tool: &str) -> ModelContent {
    let has_bridge = request.tools.iter().any(|tool| tool.name == BRIDGE);
    let (name, arguments): (&str, Value) = match has_bridge {
        true => (BRIDGE, json!({ "name": tool, "arguments": {} })),
        false => (tool, json!({})),
    };
    ModelContent::ToolUse { id, name: name.to_owned(), arguments }
}

fn says(content: ModelContent) -> ModelResponse {
    let finish = match &content {
        ModelContent::ToolUse { .. } => ModelFinish::ToolCalls,
        _ => ModelFinish::Stop,
    };
    let (usage, attempts) = (TokenUsage::zero(), Vec::new());
    ModelResponse { output: vec![content], finish, usage, cost_nano_usd: None, attempts }
}

/// A model turn as long as it lasts.
struct Turn<'a> {
    puppet: &'a Puppet,
    run: usize,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.puppet.stage().runs[self.run].at_work = None;
    }
}

#[async_trait]
impl ModelSession for Puppet {
    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        operation.remaining()?;
        let (run, turn) = self.begin(&request)?;
        let child = {
            let run = &mut self.stage().runs[run];
            run.turns += 1;
            run.at_work = Some(operation.clone());
            run.child.clone()
        };
        let _turn = Turn { puppet: self, run };
        let slept = operation.bounded(sleep(child.takes)).await;
        slept.map_err(runtime_ports::Interruption::in_flight)?;
        let next = format!("{run}/{}", turn + 1);
        if turn < child.turns {
            return Ok(says(call(&request, next, WORK)));
        }
        match child.end {
            ChildEnd::Answers(text) => Ok(says(ModelContent::Text { text })),
            ChildEnd::Fails(failure) => Err(failure),
            ChildEnd::BreaksDown => panic!("as it was told"),
            ChildEnd::Asks(_) => Ok(says(call(&request, next, ASK))),
            ChildEnd::Never => Err(operation.interrupted().await.in_flight()),
        }
    }

    async fn profile(
        &self,
        _operation: &OperationContext,
        _model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        Ok(ModelProfile {
            context_window_tokens: WINDOW_TOKENS,
            max_input_tokens: WINDOW_TOKENS,
            max_output_tokens: None,
            images: false,
            price: None,
        })
    }
}

impl Nursery for Puppet {
    fn turns(&self, prompt: &str) -> usize {
        let stage = self.stage();
        stage.runs.iter().filter(|run| run.prompt == prompt).map(|run| run.turns).sum()
    }

    fn at_work(&self) -> usize {
        self.stage().runs.iter().filter(|run| run.at_work.is_some()).count()
    }

    fn cancels_itself(&self, prompt: &str) {
        let stage = self.stage();
        let meant = stage.runs.iter().filter(|run| run.prompt == prompt);
        meant.filter_map(|run| run.at_work.as_ref()).for_each(|own| own.cancellation.cancel());
    }
}

/// The puppet behind both of its faces.
pub(super) fn puppet(children: Vec<(String, Child)>) -> Arc<Puppet> {
    Arc::new(Puppet::playing(children))
}
