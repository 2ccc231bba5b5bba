//! Decides how items reach a reader that reads at its own pace.
//!
//! Knows nothing about what the items mean. Invariant: posting never waits and loses nothing. Up to
//! [`ROOM`] unread items stay apart; beyond that an item joins the newest unread one of its kind,
//! so that what waits is bounded by the number of kinds, however slow the reader is.

use std::{
    collections::VecDeque,
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Unread items that are kept apart.
pub(crate) const ROOM: usize = 64;

/// Something that can take in a newer item of its kind.
pub(crate) trait Merge: Sized {
    /// Takes `newer` in, or gives it back when the two do not belong together.
    fn merge(&mut self, newer: Self) -> Result<(), Self>;
}

/// A queue with one reader. It ends when it is closed and read empty.
pub(crate) struct Mailbox<T> {
    state: Mutex<State<T>>,
    changed: Notify,
    asked: Notify,
}

struct State<T> {
    unread: VecDeque<T>,
    asked_in_vain: bool,
    closed: bool,
}

impl<T: Merge> Mailbox<T> {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State::default()), changed: Notify::new(), asked: Notify::new() }
    }

    /// Adds an item.
    pub(crate) fn post(&self, item: T) {
        self.lock().post(item);
        self.changed.notify_one();
    }

    /// The oldest unread item; `None` when the mailbox is closed and empty. Cancel-safe.
    pub(crate) async fn next(&self) -> Option<T> {
        loop {
            match self.lock().take() {
                Taken::Item(item) => return Some(item),
                Taken::Ended => return None,
                Taken::Nothing => self.asked.notify_one(),
            }
            self.changed.notified().await;
        }
    }

    /// Waits until the reader has read everything and asks for more. For one waiter, the poster.
    /// Cancel-safe.
    pub(crate) async fn asked_in_vain(&self) {
        while !self.lock().asked_in_vain {
            self.asked.notified().await;
        }
    }

    /// Takes back the unread items that do not pass.
    pub(crate) fn retain(&self, keep: impl FnMut(&T) -> bool) {
        self.lock().unread.retain(keep);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The posting end of a mailbox. However its owner ends, the reader's wait does too.
pub(crate) struct Poster<T: Merge>(Arc<Mailbox<T>>);

impl<T: Merge> Poster<T> {
    pub(crate) const fn new(mailbox: Arc<Mailbox<T>>) -> Self {
        Self(mailbox)
    }
}

impl<T: Merge> Deref for Poster<T> {
    type Target = Mailbox<T>;

    fn deref(&self) -> &Mailbox<T> {
        &self.0
    }
}

impl<T: Merge> Drop for Poster<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

enum Taken<T> {
    Item(T),
    Ended,
    Nothing,
}

impl<T: Merge> State<T> {
    fn post(&mut self, item: T) {
        self.asked_in_vain = false;
        if let Err(item) = self.join(item) {
            self.unread.push_back(item);
        }
    }

    fn join(&mut self, mut item: T) -> Result<(), T> {
        if self.unread.len() < ROOM {
            return Err(item);
        }
        for held in self.unread.iter_mut().rev() {
            match held.merge(item) {
                Ok(()) => return Ok(()),
                Err(back) => item = back,
            }
        }
        Err(item)
    }

    fn take(&mut self) -> Taken<T> {
        match self.unread.pop_front() {
            Some(item) => Taken::Item(item),
            None if self.closed => Taken::Ended,
            None => {
                self.asked_in_vain = true;
                Taken::Nothing
            }
        }
    }
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self { unread: VecDeque::new(), asked_in_vain: false, closed: false }
    }
}

#[cfg(test)]
mod tests;
