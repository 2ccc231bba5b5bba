//! Decides how a fake remembers what it was asked.
//!
//! Knows nothing about what it remembers. Invariant: entries are in the order of the calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a fake was asked, in order. Clones share their entries.
///
/// A call that its operation refuses (cancelled, or out of time) before it reaches the fake is not
/// in it.
#[derive(Debug)]
pub struct Recorder<T>(Arc<Mutex<Vec<T>>>);

impl<T> Recorder<T> {
    /// A recorder without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry and returns its position, from 0.
    pub fn record(&self, entry: T) -> usize {
        let mut entries = self.entries();
        entries.push(entry);
        entries.len() - 1
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Changes the entry at `position`, when there is one.
    pub(crate) fn amend(&self, position: usize, change: impl FnOnce(&mut T)) {
        if let Some(entry) = self.entries().get_mut(position) {
            change(entry);
        }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Recorder<T> {
    /// All entries, in the order of the calls.
    #[must_use]
    pub fn all(&self) -> Vec<T> {
        self.entries().clone()
    }

    /// The newest entry.
    #[must_use]
    pub fn last(&self) -> Option<T> {
        self.entries().last().cloned()
    }
}

impl<T> Clone for Recorder<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Recorder<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}
