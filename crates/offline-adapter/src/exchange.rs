//! Decides what has happened since the task was given.
//!
//! Knows how calls and results stand in a transcript. Refuses to know what they are for.

use std::collections::HashMap;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, Transcript};
use serde_json::Value;

use crate::toolbox::unwrap_call;

/// A call that was answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) result: String,
    pub(crate) failed: bool,
}

/// The newest task and what was done for it.
#[derive(Debug, Default)]
pub(crate) struct Situation {
    pub(crate) task: String,
    pub(crate) exchanges: Vec<Exchange>,
    /// Calls in the whole transcript; the next call id counts on from here.
    pub(crate) calls_so_far: usize,
}

impl Situation {
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let (mut situation, mut open) = (Self::default(), HashMap::new());
        for message in transcript.messages() {
            if message.role == ModelRole::User {
                situation.task = text_of(message);
                situation.exchanges.clear();
            }
            message.content.iter().for_each(|content| situation.take(content, &mut open));
        }
        situation
    }

    fn take<'a>(
        &mut self,
        content: &'a ModelContent,
        open: &mut HashMap<&'a str, (&'a str, &'a Value)>,
    ) {
        match content {
            ModelContent::ToolUse { id, name, arguments } => {
                self.calls_so_far += 1;
                open.insert(id, unwrap_call(name, arguments));
            }
            ModelContent::ToolResult { tool_use_id, content, failed, .. } => {
                let Some((tool, arguments)) = open.remove(tool_use_id.as_str()) else { return };
                self.exchanges.push(Exchange {
                    tool: tool.to_owned(),
                    arguments: arguments.clone(),
                    result: content.clone(),
                    failed: *failed,
                });
            }
            _ => {}
        }
    }

    /// What a call of `tool` with this `path` came back with.
    pub(crate) fn result_of(&self, tool: &str, path: &str) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| {
            let called = exchange.arguments.get("path").and_then(Value::as_str).unwrap_or("");
            exchange.tool == tool && called == path
        })
    }

    /// The first exchange with `tool`.
    pub(crate) fn first(&self, tool: &str) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| exchange.tool == tool)
    }
}

fn text_of(message: &ModelMessage) -> String {
    let texts = message.content.iter().filter_map(|content| match content {
        ModelContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
