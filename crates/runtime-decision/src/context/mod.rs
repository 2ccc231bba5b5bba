//! Decides what a request is based on: the history, or what stands for it.
//!
//! Knows nothing about models. Invariants: the history is complete and only grows; whatever enters
//! it enters the context too; `messages[head + i]` of a context stands for `history[covered + i]`.
//! Entries are shared between both, never copied.
//!
//! | file | decides |
//! |---|---|
//! | `exchange` | where a context may be cut |
//! | `said` | which messages stay word for word |
//! | `estimate`, `room` | how many tokens a request has, and may have |
//! | `stand_in` | which results are shortened |
//! | `summary`, `rendering`, `live` | what a summariser is asked, and what its answer becomes |
//! | `rebased` | what becomes of edits when the context below them is rewritten |
//! | `carried` | in what form a context is stored, and handed to a further run |
//! | `compaction`, `levels`, `transaction` | when and how all of it happens in a run |
//! | `memory`, `policy` | what hosts and agents say about it |

mod carried;
mod compaction;
mod estimate;
mod exchange;
mod levels;
mod live;
mod memory;
mod origin;
mod policy;
mod rebased;
mod rendering;
mod room;
mod said;
mod stand_in;
mod summary;
mod transaction;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use runtime_ports::{Digest, ModelMessage, ModelRole, Transcript, TranscriptEntry};

pub use self::{
    carried::CarriedContext,
    memory::{MemoryCall, MemoryDeclaration, MemoryMoment},
    origin::RequestOrigin,
    policy::ContextPolicy,
};
pub(crate) use self::{
    compaction::Compaction, estimate::Measured, rebased::Rewrite, transaction::MOST_OVERLONG,
};
use self::{exchange::Cut, said::carried, stand_in::StandIn};
use crate::Machine;

/// What stands for the history in requests.
///
/// The head is, in this order: what stays whatever is covered (the system message, then
/// resources), what users said in the covered part, word for word, and the summary.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The head, made by the engine, and then one message for each of the history from `covered`
    /// on: the same one, or a shorter one that stands for it.
    messages: Transcript,
    /// How many messages the head has.
    head: usize,
    /// How many messages of the history the head stands for.
    covered: usize,
    /// How many messages at the front of the head stay whatever is covered.
    fixed: usize,
    /// What the last message of the head sums up; `None` when the head has no such message.
    summary: Option<Summary>,
    /// Digest of the covered part of the history.
    digest: Digest,
    /// Shorter messages, by the place in the history of those that they stand for.
    shortened: BTreeMap<usize, Arc<TranscriptEntry>>,
}

/// What is known of a covered part beside what users said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The words of a summariser; none when the part was left out without a summary.
    pub(crate) text: Option<Arc<str>>,
}

impl PartialEq for Context {
    /// Messages and stand-ins compare by digest; where the latter stand is all else there is of them.
    fn eq(&self, other: &Self) -> bool {
        let counts = |it: &Self| (it.head, it.covered, it.fixed, it.digest);
        self.messages == other.messages
            && counts(self) == counts(other)
            && self.summary == other.summary
            && self.shortened.keys().eq(other.shortened.keys())
    }
}

impl Context {
    /// The history itself.
    pub(crate) fn of(history: &Transcript) -> Self {
        Self {
            messages: history.clone(),
            head: 0,
            covered: 0,
            fixed: 0,
            summary: None,
            digest: Transcript::new().digest(),
            shortened: BTreeMap::new(),
        }
    }

    /// The same with `fixed` in the place of what stood between the system message and what users
    /// said. Work is linear in the context.
    pub(crate) fn framed(&self, history: &Transcript, fixed: Vec<ModelMessage>) -> Self {
        let first = history.entries().next();
        let systems = usize::from(first.is_some_and(|first| first.role() == ModelRole::System));
        let mut messages = self.messages.prefix(systems);
        let count = systems + fixed.len();
        messages.extend(fixed);
        let rest = self.fixed.max(systems);
        self.messages.entries_from(rest).for_each(|entry| messages.push_entry(Arc::clone(entry)));
        let head = self.head.max(systems) - rest + count;
        let (covered, digest) = match self.head {
            0 => (systems, history.prefix(systems).digest()),
            _ => (self.covered, self.digest),
        };
        Self { messages, head, covered, digest, fixed: count, ..self.clone() }
    }

    /// The system messages at the very front.
    fn systems(&self) -> usize {
        let most = if self.fixed > 0 { self.fixed } else { self.messages.len() };
        let front = self.messages.entries().take(most);
        front.take_while(|entry| entry.role() == ModelRole::System).count().min(1)
    }

    /// After which message the words of memory providers stand: what stays whatever is covered.
    pub(crate) fn front(&self) -> usize {
        self.fixed.max(self.systems())
    }

    /// What requests are based on.
    pub(crate) const fn messages(&self) -> &Transcript {
        &self.messages
    }

    /// The words of the summary so far.
    pub(crate) fn so_far(&self) -> Option<&Arc<str>> {
        self.summary.as_ref()?.text.as_ref()
    }

    /// How many messages the head has.
    pub(crate) const fn head(&self) -> usize {
        self.head
    }

    /// How many messages of the history the head would stand for after a cut.
    pub(crate) const fn covered_by(&self, cut: Cut) -> usize {
        self.covered + (cut.place - self.head)
    }

    /// The head without its summary.
    const fn kept_head(&self) -> usize {
        self.head - self.summary.is_some() as usize
    }

    /// Estimated tokens of the head without its summary.
    pub(crate) fn head_tokens(&self) -> u64 {
        self.messages.prefix(self.kept_head()).estimated_tokens()
    }

    /// The messages between the head and a cut, oldest first.
    pub(crate) fn between(&self, cut: Cut) -> Vec<&TranscriptEntry> {
        let behind = self.messages.entries_from(self.head);
        behind.take(cut.place - self.head).map(|entry| &**entry).collect()
    }

    /// Takes in what was added to the history.
    pub(crate) fn push(&mut self, entry: &Arc<TranscriptEntry>) {
        self.messages.push_entry(Arc::clone(entry));
    }

    /// The same with shorter messages in some places. Places count in the context.
    pub(crate) fn shortened(&self, stand_ins: &[StandIn]) -> Self {
        let Some(first) = stand_ins.iter().map(|(place, _)| *place).min() else {
            return self.clone();
        };
        let new: BTreeMap<usize, &Arc<TranscriptEntry>> =
            stand_ins.iter().map(|(place, entry)| (*place, entry)).collect();
        let mut messages = self.messages.prefix(first);
        for (place, entry) in (first..).zip(self.messages.entries_from(first)) {
            messages.push_entry(Arc::clone(new.get(&place).copied().unwrap_or(entry)));
        }
        let mut shortened = self.shortened.clone();
        let placed = new
            .into_iter()
            .map(|(place, entry)| (place - self.head + self.covered, Arc::clone(entry)));
        shortened.extend(placed);
        Self { messages, shortened, ..self.clone() }
    }

    /// The same with everything before a cut in the head: what was said word for word, all else in
    /// the summary. Also how the messages moved.
    pub(crate) fn covering(
        &self,
        cut: Cut,
        summary: Summary,
        message: ModelMessage,
        history: &Transcript,
    ) -> (Self, Rewrite) {
        let kept = self.kept_head();
        let mut messages = self.messages.prefix(kept);
        let mut moved = Vec::new();
        for (place, entry) in (self.head..cut.place).zip(self.messages.entries_from(self.head)) {
            let Some(said) = carried(entry) else { continue };
            moved.push(place);
            messages.push_entry(said);
        }
        messages.push(message);
        let head = messages.len();
        self.messages
            .entries_from(cut.place)
            .for_each(|entry| messages.push_entry(Arc::clone(entry)));
        let covered = self.covered_by(cut);
        let before = self.messages.len();
        let rewrite = Rewrite { same: kept, moved, gone: cut.place, head, before };
        let context = Self {
            messages,
            head,
            covered,
            fixed: self.front().min(head - 1),
            summary: Some(summary),
            digest: history.prefix(covered).digest(),
            shortened: self.shortened.clone().split_off(&covered),
        };
        (context, rewrite)
    }
}

impl Machine {
    /// What the next request is based on.
    pub(crate) fn context(&self) -> &Transcript {
        match &self.state.context {
            Some(context) => context.messages(),
            None => &self.state.history,
        }
    }

    /// Adds a message to the history. The only way in.
    pub(crate) fn append(&mut self, message: ModelMessage) {
        self.state.history.push(message);
        if let Some(context) = &mut self.state.context
            && let Some(newest) = self.state.history.last()
        {
            context.push(newest);
        }
    }

    /// Adds messages to the history, in order.
    pub(crate) fn append_all(&mut self, messages: impl IntoIterator<Item = ModelMessage>) {
        messages.into_iter().for_each(|message| self.append(message));
    }
}
