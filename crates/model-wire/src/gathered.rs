//! Decides which deltas are handed on together: those that were ready together.
//!
//! Knows nothing about where they come from. Invariant: what is handed on says the same in the same
//! order; only neighbours of one kind become one.

use std::sync::{Mutex, PoisonError};

use runtime_ports::{DeltaSink, ModelDelta};

/// Most bytes that wait, however much is ready.
const MOST_HELD: usize = 64 * 1024;

/// A sink in front of another, which holds text back until it is [released](Self::release).
pub(crate) struct Gathered<'a> {
    sink: &'a dyn DeltaSink,
    held: Mutex<Held>,
}

/// The text that waits, and what it is a piece of.
#[derive(Default)]
struct Held {
    kind: Option<Kind>,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Arguments(u32),
}

impl<'a> Gathered<'a> {
    /// Nothing waits yet.
    pub(crate) fn new(sink: &'a dyn DeltaSink) -> Self {
        Self { sink, held: Mutex::default() }
    }

    /// Hands on what waits.
    pub(crate) fn release(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).release(self.sink);
    }
}

impl DeltaSink for Gathered<'_> {
    fn delta(&self, delta: ModelDelta<'_>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (kind, text) = match delta {
            ModelDelta::Text(text) => (Kind::Text, text),
            ModelDelta::Reasoning(text) => (Kind::Reasoning, text),
            ModelDelta::ToolArguments { index, fragment } => (Kind::Arguments(index), fragment),
            ModelDelta::ToolCall { .. } | ModelDelta::Restarted => {
                held.release(self.sink);
                return self.sink.delta(delta);
            }
        };
        if held.kind != Some(kind) {
            held.release(self.sink);
            held.kind = Some(kind);
        }
        held.text.push_str(text);
        if held.text.len() >= MOST_HELD {
            held.release(self.sink);
        }
    }
}

impl Held {
    fn release(&mut self, sink: &dyn DeltaSink) {
        let text = self.text.as_str();
        match self.kind.take() {
            None => return,
            Some(Kind::Text) => sink.delta(ModelDelta::Text(text)),
            Some(Kind::Reasoning) => sink.delta(ModelDelta::Reasoning(text)),
            Some(Kind::Arguments(index)) => {
                sink.delta(ModelDelta::ToolArguments { index, fragment: text });
            }
        }
        self.text.clear();
    }
}

#[cfg(test)]
mod tests;
