//! Decides where a context may be cut.
//!
//! Knows who speaks, and nothing of what is said. Invariant: a [`Cut`] lies where an answer of the
//! model begins, or at the end. An [`Exchange`] holds an answer with the results of all its calls
//! and whatever followed until the next answer, so that no cut comes between a call and its result.

#[cfg(test)]
mod tests;

use runtime_ports::{ModelRole, Transcript};
use serde::{Deserialize, Serialize};

use super::said::is_said;

/// An answer of the model, the results of its calls, and what followed until the next answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// Place of the answer.
    first: usize,
    /// Estimated tokens of all of it.
    tokens: u64,
    /// Those of what somebody said in it, which stays whatever is covered.
    said_tokens: u64,
}

/// The exchanges of a context behind its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exchanges {
    all: Vec<Exchange>,
    /// What stands between the head and the first answer.
    opening: Exchange,
    /// One after the last message.
    end: usize,
}

/// A place at which a context may be cut, and what such a cut costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Cut {
    /// Place of the first message that is kept.
    pub(crate) place: usize,
    /// Estimated tokens of what somebody said before it.
    pub(crate) said_tokens: u64,
    /// Estimated tokens of what is kept behind it.
    pub(crate) tail_tokens: u64,
}

impl Exchanges {
    /// Those of `messages` from place `head` on. Work is linear in what is behind it.
    pub(crate) fn of(messages: &Transcript, head: usize) -> Self {
        let empty = |first| Exchange { first, tokens: 0, said_tokens: 0 };
        let (mut all, mut opening) = (Vec::<Exchange>::new(), empty(head));
        for (place, entry) in (head..).zip(messages.entries_from(head)) {
            if entry.role() == ModelRole::Assistant {
                all.push(empty(place));
            }
            let exchange = all.last_mut().unwrap_or(&mut opening);
            exchange.tokens += entry.estimated_tokens();
            if is_said(entry) {
                exchange.said_tokens += entry.estimated_tokens();
            }
        }
        Self { all, opening, end: messages.len() }
    }

    /// Place of the first message of the newest `count` exchanges; all before it may be touched.
    pub(crate) fn newest(&self, count: usize) -> usize {
        let first = self.all.len().saturating_sub(count);
        self.all.get(first).map_or(self.end, |exchange| exchange.first)
    }

    /// The cut that keeps the newest `count` exchanges; none when there are no more than these.
    pub(crate) fn keeping(&self, count: usize) -> Option<Cut> {
        self.cuts().find(|(kept, _)| *kept == count).map(|(_, cut)| cut)
    }

    /// The cut that keeps the most, and the newest exchange at least, of which kept and said
    /// together take at most `room` tokens.
    pub(crate) fn fitting(&self, room: u64) -> Option<Cut> {
        let mut cuts = self.cuts().filter(|(kept, _)| *kept > 0).map(|(_, cut)| cut);
        cuts.find(|cut| cut.said_tokens.saturating_add(cut.tail_tokens) <= room)
    }

    /// Whether a cut is one of these.
    pub(crate) fn holds(&self, cut: Cut) -> bool {
        self.cuts().any(|(_, one)| one == cut)
    }

    /// All cuts, the one that keeps the most first, each with the exchanges that it keeps.
    fn cuts(&self) -> impl Iterator<Item = (usize, Cut)> {
        let mut said_tokens = self.opening.said_tokens;
        let mut tail_tokens = self.all.iter().map(|exchange| exchange.tokens).sum::<u64>();
        let ends = self.all.iter().skip(1).map(|next| next.first).chain([self.end]);
        self.all.iter().zip(ends).enumerate().map(move |(covered, (exchange, place))| {
            said_tokens += exchange.said_tokens;
            tail_tokens -= exchange.tokens;
            (self.all.len() - covered - 1, Cut { place, said_tokens, tail_tokens })
        })
    }
}
