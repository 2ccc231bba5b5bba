//! Decides what is not sent again to a server that has refused it.
//!
//! Knows nothing about how it is written. Invariant: only what an answer does not depend on is left
//! out, and only after this server refused it by name: the marks of a prompt cache for all requests,
//! reasoning for the messages that it was refused with, and thinking until a person speaks again, where
//! a turn began without it.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use model_wire::{Refusal, Size};
use runtime_ports::{Digest, ModelRole, Transcript};

use crate::body::Marks;

/// Histories that are remembered.
const REMEMBERED: usize = 256;

/// How servers say that they do not know a field.
const UNKNOWN_FIELD: &[&str] =
    &["extra input", "not permitted", "not supported", "unsupported", "unknown", "unrecognized"];

/// What a session has learnt about its server.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    marks: AtomicBool,
    reasoning: Mutex<VecDeque<Beginning>>,
    thinking: Mutex<VecDeque<Beginning>>,
}

/// A history that was refused for its reasoning, or for the lack of it.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    length: usize,
    digest: Digest,
}

/// The parts of one request that it could do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) marks: Marks,
    /// How many messages go without their reasoning.
    pub(crate) bare: usize,
    /// Whether the model may be told to think. Some models that are want each turn to begin with
    /// their thoughts, also one that another model or a history without reasoning began.
    pub(crate) thinks: bool,
}

impl Refused {
    /// The parts that a request with `messages` has, if it shall be marked as `wanted`.
    pub(crate) fn parts(&self, messages: &Transcript, wanted: Marks) -> Parts {
        let marks = if self.marks.load(Ordering::Relaxed) { Marks::Left } else { wanted };
        let known = self.reasoning.lock().unwrap_or_else(PoisonError::into_inner);
        let bare = if known.is_empty() { 0 } else { bare(messages, &known) };
        let known = self.thinking.lock().unwrap_or_else(PoisonError::into_inner);
        Parts { marks, bare, thinks: !goes_on(messages, &known) }
    }

    /// Remembers the part of a request that `refusal` is about. Whether there is one that can be
    /// left out.
    pub(crate) fn learn(&self, refusal: &Refusal, messages: &Transcript, parts: Parts) -> bool {
        if Size::of(refusal).is_some() {
            return false;
        }
        let told = refusal.mentions(UNKNOWN_FIELD);
        if parts.marks == Marks::Set && told && refusal.mentions(&["cache_control"]) {
            self.marks.store(true, Ordering::Relaxed);
            return true;
        }
        if parts.thinks && refusal.mentions(&["must start with a thinking block"]) {
            remember(&self.thinking, messages);
            return true;
        }
        if parts.bare < messages.len() && is_about_reasoning(refusal) {
            remember(&self.reasoning, messages);
            return true;
        }
        false
    }
}

fn remember(known: &Mutex<VecDeque<Beginning>>, messages: &Transcript) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.truncate(REMEMBERED - 1);
    let (length, digest) = (messages.len(), messages.digest());
    known.push_front(Beginning { length, digest });
}

impl Beginning {
    fn begins(&self, messages: &Transcript) -> bool {
        let is_long_enough = self.length <= messages.len();
        is_long_enough && messages.prefix(self.length).digest() == self.digest
    }
}

/// Whether the last turn is one that was refused for its lack of thoughts.
fn goes_on(messages: &Transcript, known: &VecDeque<Beginning>) -> bool {
    let is_turn = |known: &Beginning| {
        let mut since = messages.entries_from(known.length);
        since.all(|entry| entry.role() != ModelRole::User)
    };
    known.iter().any(|known| known.begins(messages) && is_turn(known))
}

/// Length of the longest beginning that was refused for its reasoning. What came after it was said
/// without that reasoning, and is true as long as it stays out. Each known history is looked for at
/// its own length, so that the messages of a long one are not gone through.
fn bare(messages: &Transcript, known: &VecDeque<Beginning>) -> usize {
    let begins = known.iter().filter(|known| known.begins(messages));
    begins.map(|known| known.length).max().unwrap_or(0)
}

/// Signed reasoning is bound to what stood before it, and to who issued it; a history that was made
/// shorter does not fit any more.
fn is_about_reasoning(refusal: &Refusal) -> bool {
    refusal.mentions(&["thinking"])
        && refusal.mentions(&["signature", "cannot be modified", "bound to"])
}

#[cfg(test)]
mod tests;
