//! Decides how the body of a request is put together from pieces that were written before.
//!
//! Knows nothing about what the pieces say. Invariant: a message is written once for each session
//! profile; a later request copies its bytes and does nothing else with it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use runtime_ports::{Digest, EncodingKey, ModelMessage, ModelRole, ToolSet, Transcript};
use serde_json::Value;

/// Tool sets whose encoding is kept.
const KEPT_TOOL_SETS: usize = 8;

/// The JSON elements of one message. A message of tool results may leave something for after the
/// last result of its turn: most servers take no picture inside of a result.
#[derive(Debug, Default)]
pub struct Piece {
    elements: Vec<u8>,
    deferred: Vec<u8>,
}

impl Piece {
    /// Adds an element to the message.
    pub fn push(&mut self, element: &Value) {
        append(&mut self.elements, 0, &encoded(element));
    }

    /// Adds an element that stands after the last tool result of the turn.
    pub fn defer(&mut self, element: &Value) {
        append(&mut self.deferred, 0, &encoded(element));
    }

    /// The piece as the bytes of an encoding slot: length of the elements, elements, deferred.
    pub fn into_bytes(self) -> Vec<u8> {
        let length = u64::try_from(self.elements.len()).unwrap_or(u64::MAX);
        let mut bytes = length.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.elements);
        bytes.extend_from_slice(&self.deferred);
        bytes
    }
}

/// Splits the bytes of a slot into elements and deferred elements.
pub fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = bytes.split_at(size_of::<u64>());
    let length = length.try_into().map_or(0, u64::from_be_bytes);
    rest.split_at(usize::try_from(length).unwrap_or(rest.len()).min(rest.len()))
}

/// The pieces of all messages, in order; their bytes are not copied before the body is written.
#[derive(Debug, Default)]
pub struct Elements(Vec<(ModelRole, Arc<[u8]>)>);

/// The elements of all messages. What was written for an earlier request is not written again, but
/// for several system messages at the front: they become one each time, since the templates of many
/// servers take one system message only.
pub fn elements(
    messages: &Transcript,
    key: &EncodingKey,
    encode: impl Fn(&ModelMessage) -> Vec<u8>,
) -> Elements {
    let mut pieces = Vec::with_capacity(messages.len());
    let mut next = front(messages);
    if next > 1 {
        pieces.push((ModelRole::System, encode(&joined(messages, next)).into()));
    } else {
        next = 0;
    }
    let rest = messages.entries_from(next);
    pieces.extend(rest.map(|entry| (entry.role(), entry.encoding(key, &encode))));
    Elements(pieces)
}

/// How many system messages a history begins with.
pub fn front(messages: &Transcript) -> usize {
    messages.entries().take_while(|entry| entry.role() == ModelRole::System).count()
}

/// The first `count` messages as one system message.
pub fn joined(messages: &Transcript, count: usize) -> ModelMessage {
    let contents = messages.entries().take(count);
    let content = contents.flat_map(|entry| entry.show(|message| message.content.clone()));
    ModelMessage { role: ModelRole::System, content: content.collect() }
}

impl Elements {
    /// Adds the piece of one more message.
    pub fn push(&mut self, role: ModelRole, piece: Arc<[u8]>) {
        self.0.push((role, piece));
    }

    /// Bytes that suffice for all elements with their commas.
    fn bytes(&self) -> usize {
        self.0.iter().map(|(_, bytes)| bytes.len() + 2).sum()
    }

    /// Appends the elements, separated by commas. Deferred ones stand after the results of their
    /// turn.
    pub fn write(&self, body: &mut Vec<u8>) {
        let start = body.len();
        let mut waiting: Vec<u8> = Vec::new();
        for (role, bytes) in &self.0 {
            if *role != ModelRole::Tool {
                append(body, start, &std::mem::take(&mut waiting));
            }
            let (elements, deferred) = split(bytes);
            append(body, start, elements);
            append(&mut waiting, 0, deferred);
        }
        append(body, start, &waiting);
    }
}

/// Appends elements to a list of elements that begins at `start`.
fn append(text: &mut Vec<u8>, start: usize, elements: &[u8]) {
    if text.len() > start && !elements.is_empty() {
        text.push(b',');
    }
    text.extend_from_slice(elements);
}

/// JSON text of a value.
pub fn encoded(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// A body: an object with one list of messages in it, and everything else around it.
pub fn body(model: &str, list: &str, messages: &Elements, rest: &[(&str, Bytes)]) -> Bytes {
    let size = rest.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>();
    let mut body = Vec::with_capacity(size + messages.bytes() + model.len() + list.len() + 32);
    body.extend_from_slice(b"{\"model\":");
    body.extend_from_slice(&encoded(&Value::from(model)));
    body.extend_from_slice(format!(",\"{list}\":[").as_bytes());
    messages.write(&mut body);
    body.push(b']');
    for (name, value) in rest {
        body.extend_from_slice(format!(",\"{name}\":").as_bytes());
        body.extend_from_slice(value);
    }
    body.push(b'}');
    body.into()
}

/// The encodings of the tool sets that were last used.
#[derive(Debug, Default)]
pub struct ToolEncodings(Mutex<VecDeque<(Digest, Bytes)>>);

impl ToolEncodings {
    /// The encoding of `tools`, written by `encode` unless it is kept.
    pub fn encoding(&self, tools: &ToolSet, encode: impl FnOnce() -> Value) -> Bytes {
        let digest = tools.digest();
        let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, bytes)) = kept.iter().find(|(held, _)| *held == digest) {
            return bytes.clone();
        }
        let bytes = Bytes::from(encoded(&encode()));
        kept.truncate(KEPT_TOOL_SETS - 1);
        kept.push_front((digest, bytes.clone()));
        bytes
    }
}

#[cfg(test)]
mod tests;
