//! Decides in what form a context is stored, and handed from one run of a conversation to the next.
//!
//! Knows the history that it belongs to by its digest. Invariants: what stands in the history is not
//! written again; a context is taken up only with the history that it was made of.

use std::{collections::BTreeMap, sync::Arc};

use runtime_ports::{Digest, ModelContent, ModelMessage, Transcript, TranscriptEntry};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Context, Summary, said::carried, stand_in::stands_for};

/// What stands for a history in requests, kept so that a further run goes on with it. Taken up
/// only together with the history that it was made of, which may have grown since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CarriedContext {
    /// What the engine put in the place of the oldest messages.
    #[serde(with = "crate::stored_history")]
    pub head: Transcript,
    /// How many of those, from the front, stay whatever else is covered.
    pub fixed: usize,
    /// How many messages of the history the head stands for.
    pub covered: usize,
    /// Digest of these.
    pub digest: Digest,
    /// Whether the last message of the head tells of what was covered.
    pub summarized: bool,
    /// The summary in it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Arc<str>>,
    /// Messages after those that a shorter one stands for, by their place in the history.
    #[serde(default, skip_serializing_if = "Transcript::is_empty", with = "crate::stored_history")]
    pub shortened: Transcript,
    /// Their places, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<usize>,
}

impl CarriedContext {
    /// The context over this history; none when it was made of another.
    pub(crate) fn over(&self, history: &Transcript) -> Option<Context> {
        let fits = self.covered <= history.len()
            && self.fixed <= self.head.len().saturating_sub(usize::from(self.summarized))
            && (!self.summarized || !self.head.is_empty())
            && (self.summarized || self.summary.is_none())
            && self.head.messages().all(is_plain)
            && history.prefix(self.covered).digest() == self.digest
            && self.holds_what_was_said(history);
        if !fits {
            return None;
        }
        let mut messages = self.head.clone();
        let shortened = self.stand_ins()?;
        for (place, entry) in (self.covered..).zip(history.entries_from(self.covered)) {
            match shortened.get(&place) {
                Some(stand_in) if !stands_for(stand_in, entry) => return None,
                Some(stand_in) => messages.push_entry(Arc::clone(stand_in)),
                None => messages.push_entry(Arc::clone(entry)),
            }
        }
        if shortened.keys().any(|place| *place < self.covered || *place >= history.len()) {
            return None;
        }
        Some(Context {
            messages,
            head: self.head.len(),
            covered: self.covered,
            fixed: self.fixed,
            summary: self.summarized.then(|| Summary { text: self.summary.clone() }),
            digest: self.digest,
            shortened,
        })
    }

    /// Whether the head holds what was said in the covered part, word for word and in order.
    fn holds_what_was_said(&self, history: &Transcript) -> bool {
        let covered = history.entries().take(self.covered);
        let mut head = self.head.entries().map(|entry| entry.digest());
        covered.filter_map(carried).all(|said| head.any(|digest| digest == said.digest()))
    }

    fn stand_ins(&self) -> Option<BTreeMap<usize, Arc<TranscriptEntry>>> {
        let rises = self.places.is_sorted_by(|left, right| left < right);
        let paired = self.places.len() == self.shortened.len();
        let entries = self.shortened.entries().cloned();
        (rises && paired).then(|| self.places.iter().copied().zip(entries).collect())
    }
}

/// A head has neither calls nor results: their other halves would be missing.
fn is_plain(message: &ModelMessage) -> bool {
    let is_half = |item: &ModelContent| {
        matches!(item, ModelContent::ToolUse { .. } | ModelContent::ToolResult { .. })
    };
    !message.content.iter().any(is_half)
}

impl Context {
    /// The form in which it is kept.
    pub(crate) fn carried(&self) -> CarriedContext {
        let mut shortened = Transcript::new();
        self.shortened.values().for_each(|entry| shortened.push_entry(Arc::clone(entry)));
        CarriedContext {
            head: self.messages.prefix(self.head),
            fixed: self.fixed,
            covered: self.covered,
            digest: self.digest,
            summarized: self.summary.is_some(),
            summary: self.so_far().cloned(),
            shortened,
            places: self.shortened.keys().copied().collect(),
        }
    }

    /// The context that was read, over the history that was read beside it; none when they do not
    /// belong together.
    pub(crate) fn joined(&self, history: &Transcript) -> Option<Self> {
        self.carried().over(history)
    }
}

impl Serialize for Context {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.carried().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Context {
    /// Gives its head and its stand-ins only; [`Context::joined`] gives the rest.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let carried = CarriedContext::deserialize(deserializer)?;
        let apart = "the places of shortened messages are out of order";
        let shortened = carried.stand_ins().ok_or_else(|| D::Error::custom(apart))?;
        Ok(Self {
            head: carried.head.len(),
            messages: carried.head,
            covered: carried.covered,
            fixed: carried.fixed,
            summary: carried.summarized.then_some(Summary { text: carried.summary }),
            digest: carried.digest,
            shortened,
        })
    }
}
