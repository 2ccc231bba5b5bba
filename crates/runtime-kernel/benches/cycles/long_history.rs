//! Decides what a run with a long history is, that is compacted before its first request.
//!
//! Knows the decision machine alone: what a summariser takes is not part of it.

use std::sync::Arc;

use runtime_decision::{
    Definition, Effect, Event, Happened, Input, Machine, Out, Outcome, Plan, RunIdentity, Task,
};
use runtime_ports::{
    EffectClass, ModelContent, ModelFinish, ModelMessage, ModelProfile, ModelResponse, ModelRole,
    ModelToolDefinition, TokenUsage, ToolDescriptor, ToolKind,
};
use serde_json::json;

/// A run that is about to hear of its model's window.
pub(crate) struct LongHistory {
    machine: Machine,
    out: Out,
    window: u64,
}

/// What was asked of the summariser, and of the model after it.
pub(crate) struct Compacted {
    pub(crate) levels: Vec<Arc<str>>,
    pub(crate) messages: usize,
}

impl LongHistory {
    /// Of `messages` messages: calls that read notes, and their results, of which every tenth is
    /// large.
    pub(crate) fn new(messages: usize) -> Self {
        let mut definition = Definition::new("agent", "model");
        definition.tools = vec![read()];
        let plan = Arc::new(Plan::new(definition).expect("a definition"));
        let said = (0..messages / 2).flat_map(exchange).collect();
        let task = Task::new("Go on.").after(said);
        let mut machine = Machine::new(plan, RunIdentity::root("r", "task", "agent"), task);
        // A tenth over the threshold.
        let window = machine.history().estimated_tokens() * 5 / 4;
        let mut out = Out::default();
        let started = Input { at_ms: 0, happened: Happened::Started };
        machine.handle(started, &mut out).expect("a start");
        Self { machine, out, window }
    }

    /// Compacts it: from the first look at its size to the request.
    pub(crate) fn compact(mut self) -> Compacted {
        let profile = ModelProfile {
            context_window_tokens: self.window,
            max_input_tokens: self.window,
            max_output_tokens: None,
            images: false,
            price: None,
        };
        self.settle(Outcome::ProfileResolved(Ok(profile)));
        assert!(matches!(self.out.effects[0].effect, Effect::Summarize(_)), "no summary");
        self.settle(Outcome::Summarized(Ok(summary())));
        let Effect::CallModel(request) = &self.out.effects[0].effect else {
            panic!("no request: {:?}", self.out.effects)
        };
        let messages = request.messages.len();
        let levels = self.out.events.iter().find_map(|told| match &told.event {
            Event::MemoryCompactCompleted { levels, .. } => Some(levels.clone()),
            _ => None,
        });
        Compacted { levels: levels.expect("it was compacted"), messages }
    }

    fn settle(&mut self, outcome: Outcome) {
        let asked = self.out.effects.remove(0).id;
        self.out.clear();
        self.machine.handle(Input::settled(0, asked, outcome), &mut self.out).expect("an outcome");
    }
}

fn summary() -> ModelResponse {
    ModelResponse {
        output: vec![ModelContent::text("All notes were read. ".repeat(100))],
        finish: ModelFinish::Stop,
        usage: TokenUsage::default(),
        cost_nano_usd: None,
        attempts: Vec::new(),
    }
}

fn exchange(number: usize) -> [ModelMessage; 2] {
    let (id, name) = (format!("call-{number}"), "read".to_owned());
    let lines = if number.is_multiple_of(10) { 60 } else { 5 };
    let content = format!("Line of note {number}: nothing was decided.\n").repeat(lines);
    let call = ModelContent::ToolUse {
        id: id.clone(),
        name: name.clone(),
        arguments: json!({ "path": format!("notes/{number}.md") }),
    };
    let said = ModelContent::text("I look at the next note, and compare it with the last.");
    let result = ModelContent::ToolResult { tool_use_id: id, name, content, failed: false };
    [
        ModelMessage { role: ModelRole::Assistant, content: vec![said, call] },
        ModelMessage { role: ModelRole::Tool, content: vec![result] },
    ]
}

fn read() -> ToolDescriptor {
    ToolDescriptor {
        definition: ModelToolDefinition {
            name: "read".to_owned(),
            description: "Reads a note.".to_owned(),
            input_schema: json!({ "type": "object" }),
        },
        kind: ToolKind::Function,
        effect: EffectClass::ReadOnly,
        idempotent: true,
        parallel: true,
        timeout: std::time::Duration::from_secs(60),
        output_limit_bytes: 100_000,
        version: "1".to_owned(),
    }
}
