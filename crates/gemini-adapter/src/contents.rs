//! Decides how the messages of a request become contents: whose turn each is, and where one ends.
//!
//! Knows nothing about what the parts say; their bytes were written before, once for each message.
//! Invariant: the person begins, speakers alternate, no content is empty, and what is not a result
//! stands after the results of its turn.

use std::sync::Arc;

use bytes::Bytes;
use model_wire::pieces::split;
use runtime_ports::{EncodingKey, ModelMessage, ModelRole, Transcript};

/// Stands first where a history begins with the model.
const OPENING: &[u8] = br#"{"text":"(the conversation began earlier)"}"#;

/// The parts of all messages, in order; their bytes are not copied before the body is written.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    instructions: Vec<Arc<[u8]>>,
    messages: Vec<(ModelRole, Arc<[u8]>)>,
}

impl Contents {
    /// The parts of `messages`. What was written for an earlier request is not written again.
    pub(crate) fn of(
        messages: &Transcript,
        key: &EncodingKey,
        encode: impl Fn(&ModelMessage) -> Vec<u8>,
    ) -> Self {
        let is_system = |role| role == ModelRole::System;
        let front = messages.entries().take_while(|entry| is_system(entry.role())).count();
        let instructions = messages.entries().take(front);
        let rest = messages.entries_from(front);
        Self {
            instructions: instructions.map(|entry| entry.encoding(key, &encode)).collect(),
            messages: rest.map(|entry| (entry.role(), entry.encoding(key, &encode))).collect(),
        }
    }

    /// Whether nobody says anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.iter().all(|(_, bytes)| {
            let (parts, deferred) = split(bytes);
            parts.is_empty() && deferred.is_empty()
        })
    }

    /// A body: the instructions, the contents, and everything else after them.
    pub(crate) fn body(&self, rest: &[(&str, Bytes)]) -> Bytes {
        let lengths = self.instructions.iter().chain(self.messages.iter().map(|(_, bytes)| bytes));
        let own: usize = lengths.map(|bytes| bytes.len() + 32).sum();
        let around: usize = rest.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
        let mut body = Vec::with_capacity(own + around + 128);
        body.push(b'{');
        self.write_instructions(&mut body);
        body.extend_from_slice(b"\"contents\":[");
        let mut turns = Turns { body, speaker: None, has_parts: false };
        self.write_turns(&mut turns);
        let mut body = turns.end();
        body.push(b']');
        for (name, value) in rest {
            body.extend_from_slice(format!(",\"{name}\":").as_bytes());
            body.extend_from_slice(value);
        }
        body.push(b'}');
        body.into()
    }

    fn write_instructions(&self, body: &mut Vec<u8>) {
        let parts: Vec<&[u8]> = self.instructions.iter().map(|bytes| split(bytes).0).collect();
        let parts: Vec<&[u8]> = parts.into_iter().filter(|parts| !parts.is_empty()).collect();
        if parts.is_empty() {
            return;
        }
        body.extend_from_slice(b"\"systemInstruction\":{\"parts\":[");
        for (at, parts) in parts.into_iter().enumerate() {
            if at > 0 {
                body.push(b',');
            }
            body.extend_from_slice(parts);
        }
        body.extend_from_slice(b"]},");
    }

    fn write_turns(&self, turns: &mut Turns) {
        let mut waiting: Vec<&[u8]> = Vec::new();
        for (role, bytes) in &self.messages {
            if *role != ModelRole::Tool {
                waiting.drain(..).for_each(|parts| turns.add(Speaker::User, parts));
            }
            let (parts, deferred) = split(bytes);
            turns.add(Speaker::of(*role), parts);
            waiting.push(deferred);
        }
        waiting.into_iter().for_each(|parts| turns.add(Speaker::User, parts));
    }
}

/// Who a content is from, in the words of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Model,
}

impl Speaker {
    const fn of(role: ModelRole) -> Self {
        match role {
            ModelRole::Assistant => Self::Model,
            // There is no role for the application amid a conversation.
            ModelRole::System | ModelRole::User | ModelRole::Tool => Self::User,
        }
    }

    const fn head(self) -> &'static [u8] {
        match self {
            Self::User => b"{\"role\":\"user\",\"parts\":[",
            Self::Model => b"{\"role\":\"model\",\"parts\":[",
        }
    }
}

/// The contents while they are written.
struct Turns {
    body: Vec<u8>,
    speaker: Option<Speaker>,
    has_parts: bool,
}

impl Turns {
    /// Adds parts, which are separated by commas, to the turn of `speaker`.
    fn add(&mut self, speaker: Speaker, parts: &[u8]) {
        if parts.is_empty() {
            return;
        }
        if self.speaker.is_none() && speaker == Speaker::Model {
            self.begin(Speaker::User);
            self.write(OPENING);
        }
        if self.speaker != Some(speaker) {
            self.begin(speaker);
        }
        self.write(parts);
    }

    fn begin(&mut self, speaker: Speaker) {
        if self.speaker.is_some() {
            self.body.extend_from_slice(b"]},");
        }
        self.body.extend_from_slice(speaker.head());
        (self.speaker, self.has_parts) = (Some(speaker), false);
    }

    fn write(&mut self, parts: &[u8]) {
        if self.has_parts {
            self.body.push(b',');
        }
        self.body.extend_from_slice(parts);
        self.has_parts = true;
    }

    fn end(mut self) -> Vec<u8> {
        if self.speaker.is_some() {
            self.body.extend_from_slice(b"]}");
        }
        self.body
    }
}

#[cfg(test)]
mod tests;
