//! Decides how the calls of one answer are named, answered and kept together with their results.
//!
//! Knows nothing about how an answer is waited for. Invariant: the messages of an exchange hold each
//! call with exactly one result, in the model's order. Of calls that share an id in one answer the
//! first wins; a later one gets an id of its own and an error result, and is never surfaced.

use std::collections::{HashMap, HashSet};

use runtime_ports::{ModelContent, ModelMessage, ModelRole, ToolResult};
use serde_json::{Value, json};

/// The calls of one answer, and what was answered so far.
pub(super) struct Exchange {
    output: Vec<ModelContent>,
    calls: Vec<Call>,
    results: Vec<ToolResult>,
}

/// One call as a host sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Surfaced {
    /// Unique in the turn.
    pub(super) call_id: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
}

struct Call {
    id: String,
    surfaced: Surfaced,
    repeats_an_id: bool,
}

/// Ids that were given, each once.
#[derive(Default)]
pub(super) struct SurfacedIds {
    taken: HashSet<String>,
    /// The number of the next variant of an id, so that a thousand calls of one name do not try
    /// the same variants over and over.
    next: HashMap<String, u64>,
}

impl Exchange {
    /// The exchange that an answer with calls begins.
    pub(super) fn new(mut output: Vec<ModelContent>, surfaced: &mut SurfacedIds) -> Self {
        let (mut written, mut ids) = (HashSet::new(), SurfacedIds::default());
        let mut calls = Vec::new();
        for content in &mut output {
            if let ModelContent::ToolUse { id, name, arguments } = content {
                let repeats_an_id = !id.is_empty() && !written.insert(id.clone());
                *id = ids.give(id);
                let call_id = if repeats_an_id { id.clone() } else { surfaced.give(id) };
                let (tool, arguments) = (name.clone(), arguments.clone());
                let surfaced = Surfaced { call_id, tool, arguments };
                calls.push(Call { id: id.clone(), surfaced, repeats_an_id });
            }
        }
        Self { output, calls, results: Vec::new() }
    }

    /// The next call that needs an answer of the host; those that must not run are answered here.
    pub(super) fn next_call(&mut self) -> Option<Surfaced> {
        loop {
            let call = self.calls.get(self.results.len())?;
            if !call.repeats_an_id {
                return Some(call.surfaced.clone());
            }
            let refusal = refused(&call.surfaced.tool);
            self.answer(refusal);
        }
    }

    /// Answers the call that [`Self::next_call`] gave.
    pub(super) fn answer(&mut self, result: ToolResult) {
        self.results.push(result);
    }

    /// The answer and all results, as they enter the thread.
    pub(super) fn into_messages(self) -> [ModelMessage; 2] {
        let results = self.calls.into_iter().zip(self.results);
        let content = results.map(|(call, result)| ModelContent::ToolResult {
            tool_use_id: call.id,
            name: call.surfaced.tool,
            content: result.text,
            failed: !result.success,
        });
        let results = ModelMessage { role: ModelRole::Tool, content: content.collect() };
        [ModelMessage { role: ModelRole::Assistant, content: self.output }, results]
    }
}

impl SurfacedIds {
    /// `id` itself the first time, later the next variant of it that was not given. An empty id
    /// gets a name.
    fn give(&mut self, id: &str) -> String {
        let base = if id.is_empty() { "call" } else { id };
        let mut fresh = base.to_owned();
        while !self.taken.insert(fresh.clone()) {
            let next = self.next.entry(base.to_owned()).or_insert(2);
            fresh = format!("{base}-{next}");
            *next += 1;
        }
        fresh
    }
}

fn refused(tool: &str) -> ToolResult {
    let error = "an earlier call of this answer has the same id; this one did not run";
    let text = json!({
        "ok": false,
        "error": error,
        "error_code": "duplicate_tool_call_id",
        "tool_name": tool,
    });
    ToolResult { success: false, text: text.to_string() }
}

#[cfg(test)]
mod tests;
