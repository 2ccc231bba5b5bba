//! Decides which response that the server keeps a request continues, so that only what is new needs
//! to be sent.
//!
//! Knows nothing about requests over the wire. Invariant: a response is continued only by a history
//! whose beginning is, message by message, what was sent for that response and what it answered;
//! any other history is sent whole.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{Digest, ModelContent, ModelMessage, ModelRequest, ModelRole};

/// Most responses that are remembered; the oldest are forgotten first.
const MOST_RESPONSES: usize = 1_024;

/// How many messages behind a response are looked over for it. More new messages than that are rare
/// enough to be sent with the rest.
const MOST_NEW_MESSAGES: usize = 1_024;

/// The responses that the server keeps for one session.
#[derive(Debug, Default)]
pub(crate) struct Continued(Mutex<Responses>);

#[derive(Debug, Default)]
struct Responses {
    held: HashMap<Digest, Held>,
    oldest_first: VecDeque<Digest>,
}

/// A response that the server keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    /// The server's name for it.
    pub(crate) id: Arc<str>,
    /// How many tokens it counted as read for it.
    pub(crate) input_tokens: Option<u64>,
}

/// The response that a request continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Continuation {
    pub(crate) response: Held,
    /// How many messages of the request the server has.
    pub(crate) messages: usize,
    key: Digest,
}

impl Continued {
    /// The longest beginning of `request` that the server keeps. Work is proportional to what
    /// follows it.
    pub(crate) fn find(&self, request: &ModelRequest) -> Option<Continuation> {
        let responses = self.responses();
        if responses.held.is_empty() {
            return None;
        }
        let length = request.messages.len();
        let mut step = 8;
        loop {
            let start = length.saturating_sub(step);
            if let Some(found) = responses.find_from(start, request) {
                return Some(found);
            }
            if start == 0 || step >= MOST_NEW_MESSAGES {
                return None;
            }
            step *= 8;
        }
    }

    /// Remembers that the server keeps `request` and its answer as `response`.
    pub(crate) fn remember(&self, request: &ModelRequest, output: &[ModelContent], response: Held) {
        let mut history = request.messages.clone();
        history.push(ModelMessage { role: ModelRole::Assistant, content: output.to_vec() });
        self.responses().insert(key(&request.model, history.digest()), response);
    }

    /// Forgets a response that the server does not have any more.
    pub(crate) fn forget(&self, continuation: &Continuation) {
        self.responses().held.remove(&continuation.key);
    }

    fn responses(&self) -> MutexGuard<'_, Responses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Responses {
    /// The longest known prefix of more than `start` messages that is not the whole.
    fn find_from(&self, start: usize, request: &ModelRequest) -> Option<Continuation> {
        let history = &request.messages;
        let mut found = None;
        for (messages, digest) in (start + 1..history.len()).zip(history.prefix_digests_from(start))
        {
            let key = key(&request.model, digest);
            if let Some(response) = self.held.get(&key) {
                found = Some(Continuation { response: response.clone(), messages, key });
            }
        }
        found
    }

    fn insert(&mut self, key: Digest, response: Held) {
        if self.held.insert(key, response).is_none() {
            self.oldest_first.push_back(key);
        }
        while self.oldest_first.len() > MOST_RESPONSES {
            let oldest = self.oldest_first.pop_front();
            oldest.and_then(|key| self.held.remove(&key));
        }
    }
}

fn key(model: &str, prefix: Digest) -> Digest {
    Digest::of_parts(&[b"continued response", model.as_bytes(), prefix.as_bytes()])
}

#[cfg(test)]
mod tests;
