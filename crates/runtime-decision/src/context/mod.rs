//! Decides what a request is based on: the history, or what stands for it.
//!
//! Knows nothing about models. Invariants: the history is complete and only grows; whatever enters
//! it enters the context too; `messages[head + i]` of a context stands for `history[covered + i]`.

mod memory;
mod policy;

use runtime_ports::{ModelMessage, Transcript};
use serde::{Deserialize, Serialize};

pub use self::{
    memory::{MemoryCall, MemoryDeclaration, MemoryMoment},
    policy::ContextPolicy,
};
use crate::Machine;

/// What stands for a history in requests, kept so that a further run goes on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedContext {
    /// What the engine put in the place of the oldest messages.
    pub head: Vec<ModelMessage>,
    /// How many messages of the history that stands for.
    pub covered: usize,
    /// Messages after those that have a shorter stand-in, by their place in the history.
    pub shortened: Vec<(usize, ModelMessage)>,
}

/// What stands for the history in requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Context {
    /// The head, made by the engine, and then one message for each of the history from `covered`
    /// on: the same one, or a shorter one that stands for it.
    #[serde(with = "crate::stored_history")]
    pub(crate) messages: Transcript,
    /// How many messages the head has.
    pub(crate) head: usize,
    /// How many messages of the history the head stands for.
    pub(crate) covered: usize,
}

impl Machine {
    /// What the next request is based on.
    pub(crate) fn context(&self) -> &Transcript {
        match &self.state.context {
            Some(context) => &context.messages,
            None => &self.state.history,
        }
    }

    /// Adds a message to the history. The only way in.
    pub(crate) fn append(&mut self, message: ModelMessage) {
        self.state.history.push(message);
        if let Some(context) = &mut self.state.context
            && let Some(newest) = self.state.history.last()
        {
            context.messages.push_entry(std::sync::Arc::clone(newest));
        }
    }

    /// Adds messages to the history, in order.
    pub(crate) fn append_all(&mut self, messages: impl IntoIterator<Item = ModelMessage>) {
        messages.into_iter().for_each(|message| self.append(message));
    }
}
