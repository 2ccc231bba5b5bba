//! Decides how what a run notes of each cycle is kept, so that a note costs the same in every cycle.
//!
//! Knows nothing about what is noted. Invariant: adding an entry moves no other.

use std::collections::LinkedList;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Entries that one piece of memory has room for: more of them leave more of it unused.
const CHUNK: usize = 8;

/// A list that only grows.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::linkedlist, reason = "a vector copies all of its entries when it grows")]
pub(crate) struct Log<T> {
    chunks: LinkedList<Vec<T>>,
}

impl<T> Log<T> {
    pub(crate) fn push(&mut self, entry: T) {
        match self.chunks.back_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(entry),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(entry);
                self.chunks.push_back(chunk);
            }
        }
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.chunks.back()?.last()
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.chunks.back_mut()?.last_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { chunks: LinkedList::new() }
    }
}

impl<T> Extend<T> for Log<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, entries: I) {
        entries.into_iter().for_each(|entry| self.push(entry));
    }
}

impl<T> FromIterator<T> for Log<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut log = Self::default();
        log.extend(entries);
        log
    }
}

impl<T: Serialize> Serialize for Log<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Log<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from_iter)
    }
}
