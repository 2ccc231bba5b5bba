//! Decides how the messages of a request become the turns of a body, and where a prompt cache may
//! end.
//!
//! Knows nothing about what the blocks say. Invariants: a message is written once for each session,
//! and a later request copies its bytes; the user begins and turns alternate; results stand first in
//! their turn; what one request sent is, but for the marks of the cache, the beginning of what the
//! next one sends.

use std::sync::Arc;

use bytes::Bytes;
use model_wire::pieces::{encoded, split};
use runtime_ports::{
    EncodingKey, ModelMessage, ModelRole, ModelToolDefinition, Transcript, TranscriptEntry,
};
use serde_json::{Value, json};

use crate::encode::{Replay, is_text, piece, system_piece};

/// What marks the end of a prefix that the server shall keep.
const MARK: &[u8] = br#","cache_control":{"type":"ephemeral"}}"#;
/// Stands first where a history begins with the model: the API has the user begin.
const OPENING: &[u8] =
    br#"{"role":"user","content":[{"type":"text","text":"(the conversation began earlier)"}]},"#;
/// Turns of the user that are marked: where this request ends, and where the one before ended.
/// With the tools and the system text that makes four, which is all that the API takes.
const MARKED_TURNS: usize = 2;

/// Whether the ends of stable prefixes are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    Set,
    Left,
}

/// Keys of the encodings of a message.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    /// Among the messages.
    pub(crate) turn: EncodingKey,
    /// Among the messages, without reasoning.
    pub(crate) bare: EncodingKey,
    /// In the `system` field.
    pub(crate) system: EncodingKey,
}

impl Keys {
    pub(crate) fn of(issuer: &str) -> Self {
        let turn = EncodingKey::new("anthropic", issuer);
        let bare = EncodingKey::new("anthropic/bare", "");
        Self { turn, bare, system: EncodingKey::new("anthropic/system", "") }
    }
}

/// The pieces of all messages; their bytes are not copied before the body is written.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    system: Vec<Arc<[u8]>>,
    turns: Vec<Turn>,
    has_results: bool,
}

#[derive(Debug)]
struct Turn {
    is_user: bool,
    pieces: Vec<Arc<[u8]>>,
}

impl Turns {
    /// The turns of a history, each message written unless it was before. `issuer` gets its
    /// reasoning back, but for that in the first `bare` messages.
    pub(crate) fn of(messages: &Transcript, keys: &Keys, issuer: &str, bare: usize) -> Self {
        Self::written_by(messages, keys, (issuer, bare), &piece)
    }

    fn written_by(
        messages: &Transcript,
        keys: &Keys,
        (issuer, bare): (&str, usize),
        write: &dyn Fn(&ModelMessage, Replay<'_>) -> Vec<u8>,
    ) -> Self {
        let mut turns = Self::default();
        let is_front = |entry: &&Arc<TranscriptEntry>| {
            entry.role() == ModelRole::System && entry.show(is_text)
        };
        let front: Vec<_> = messages.entries().take_while(is_front).collect();
        let system = front.iter().map(|entry| entry.encoding(&keys.system, system_piece));
        turns.system = system.filter(|bytes| !bytes.is_empty()).collect();
        for (at, entry) in (front.len()..).zip(messages.entries_from(front.len())) {
            let is_user = entry.role() != ModelRole::Assistant;
            let (key, replay) = match at < bare && !is_user {
                true => (&keys.bare, Replay::Nothing),
                false => (&keys.turn, Replay::Of(issuer)),
            };
            turns.add(is_user, entry.encoding(key, |message| write(message, replay)));
        }
        turns
    }

    fn add(&mut self, is_user: bool, piece: Arc<[u8]>) {
        let (results, others) = split(&piece);
        if results.is_empty() && others.is_empty() {
            return;
        }
        self.has_results |= !results.is_empty();
        match self.turns.last_mut() {
            Some(turn) if turn.is_user == is_user => turn.pieces.push(piece),
            _ => self.turns.push(Turn { is_user, pieces: vec![piece] }),
        }
    }

    /// Whether there is nothing that can be sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whether tools were called.
    pub(crate) fn has_results(&self) -> bool {
        self.has_results
    }

    /// The body of a request: system text, tools and turns, with `fields` around them.
    pub(crate) fn body(
        &self,
        model: &str,
        fields: &[(&str, Value)],
        tools: Option<&Bytes>,
        marks: Marks,
    ) -> Bytes {
        let mut body = Vec::with_capacity(self.bytes() + tools.map_or(0, Bytes::len) + 1024);
        body.extend_from_slice(b"{\"model\":");
        body.extend_from_slice(&encoded(&Value::from(model)));
        for (name, value) in fields {
            body.extend_from_slice(format!(",\"{name}\":").as_bytes());
            body.extend_from_slice(&encoded(value));
        }
        if let Some(tools) = tools {
            body.extend_from_slice(b",\"tools\":");
            body.extend_from_slice(tools);
        }
        if !self.system.is_empty() {
            body.extend_from_slice(b",\"system\":[");
            append(&mut body, self.system.iter().map(|bytes| &bytes[..]));
            mark(&mut body, marks);
            body.push(b']');
        }
        body.extend_from_slice(b",\"messages\":[");
        self.write_turns(&mut body, marks);
        body.extend_from_slice(b"]}");
        body.into()
    }

    fn write_turns(&self, body: &mut Vec<u8>, marks: Marks) {
        let marked = self.turns.iter().enumerate().rev().filter(|(_, turn)| turn.is_user);
        let first_marked = marked.take(MARKED_TURNS).last().map_or(usize::MAX, |(at, _)| at);
        if self.turns.first().is_some_and(|turn| !turn.is_user) {
            body.extend_from_slice(OPENING);
        }
        for (at, turn) in self.turns.iter().enumerate() {
            if at > 0 {
                body.push(b',');
            }
            let head: &[u8] = if turn.is_user {
                b"{\"role\":\"user\",\"content\":["
            } else {
                b"{\"role\":\"assistant\",\"content\":["
            };
            body.extend_from_slice(head);
            let results = turn.pieces.iter().map(|bytes| split(bytes).0);
            let others = turn.pieces.iter().map(|bytes| split(bytes).1);
            append(body, results.chain(others));
            if turn.is_user && at >= first_marked {
                mark(body, marks);
            }
            body.extend_from_slice(b"]}");
        }
    }

    fn bytes(&self) -> usize {
        let pieces = self.turns.iter().flat_map(|turn| &turn.pieces);
        let turns = self.turns.len() * 64;
        pieces.chain(&self.system).map(|bytes| bytes.len() + 1).sum::<usize>() + turns
    }
}

/// Appends lists of blocks, with commas in between.
fn append<'a>(body: &mut Vec<u8>, lists: impl Iterator<Item = &'a [u8]>) {
    for (at, list) in lists.filter(|list| !list.is_empty()).enumerate() {
        if at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(list);
    }
}

/// Marks the block that the body ends with.
fn mark(body: &mut Vec<u8>, marks: Marks) {
    if marks == Marks::Set && body.last() == Some(&b'}') {
        body.pop();
        body.extend_from_slice(MARK);
    }
}

/// The tools of a request, the last one marked.
pub(crate) fn tools(tools: &[ModelToolDefinition], marks: Marks) -> Value {
    let written = tools.iter().map(|tool| {
        let mut written = json!({"name": tool.name, "input_schema": tool.input_schema});
        if !tool.description.is_empty() {
            written["description"] = tool.description.as_str().into();
        }
        written
    });
    let mut list: Vec<Value> = written.collect();
    if let Some(last) = list.last_mut().filter(|_| marks == Marks::Set) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    Value::Array(list)
}

/// What stands for the tools of a history in a request that offers none: the API refuses results
/// without tools. Beside it goes the choice of no tool.
pub(crate) fn no_tools() -> Bytes {
    let schema = json!({"type": "object", "properties": {}});
    let description = "No tool can be called now.";
    let tool = json!({"name": "unavailable", "description": description, "input_schema": schema});
    encoded(&json!([tool])).into()
}

#[cfg(test)]
mod tests;
