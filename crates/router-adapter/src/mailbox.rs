//! Decides how items reach a reader that reads at its own pace.
//!
//! Knows nothing about what the items mean. Invariant: posting never waits and loses nothing. Up to
//! [`ROOM`] unread items stay apart; beyond that an item joins the newest unread one of its kind,
//! so that what waits is bounded by the number of kinds, however slow the reader is.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Unread items that are kept apart.
pub(crate) const ROOM: usize = 64;

/// Something that can take in a newer item of its kind.
pub(crate) trait Merge: Sized {
    /// Names a kind.
    type Kind: Eq + Hash;

    /// The kind of this item; `None` when it always stays apart.
    fn kind(&self) -> Option<Self::Kind>;

    /// Takes in a newer item of the same kind.
    fn absorb(&mut self, newer: Self);
}

/// A queue with one reader. It ends when it is closed and read empty.
pub(crate) struct Mailbox<T: Merge> {
    state: Mutex<State<T>>,
    changed: Notify,
    asked: Notify,
}

struct State<T: Merge> {
    unread: VecDeque<T>,
    /// Items that left at the front, so that the place of an item has a number that stays.
    gone: u64,
    /// The number of the newest unread item of each kind; those of items that left are stale.
    newest: HashMap<T::Kind, u64>,
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
        self.lock().retain(keep);
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

    /// Joins the item to the newest unread one of its kind. Costs the same however many wait.
    fn join(&mut self, item: T) -> Result<(), T> {
        let Some(kind) = item.kind() else { return Err(item) };
        let is_full = self.unread.len() >= ROOM;
        let place = self.newest.get(&kind).and_then(|number| number.checked_sub(self.gone));
        let held = place.and_then(|place| self.unread.get_mut(usize::try_from(place).ok()?));
        match held {
            Some(held) if is_full => {
                held.absorb(item);
                Ok(())
            }
            _ => {
                self.newest.insert(kind, self.gone + self.unread.len() as u64);
                Err(item)
            }
        }
    }

    fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.unread.retain(keep);
        let numbered = (self.gone..).zip(&self.unread);
        self.newest = numbered.filter_map(|(number, item)| Some((item.kind()?, number))).collect();
    }

    fn take(&mut self) -> Taken<T> {
        match self.unread.pop_front() {
            Some(item) => {
                self.gone += 1;
                if self.unread.is_empty() {
                    self.newest.clear();
                }
                Taken::Item(item)
            }
            None if self.closed => Taken::Ended,
            None => {
                self.asked_in_vain = true;
                Taken::Nothing
            }
        }
    }
}

impl<T: Merge> Default for State<T> {
    fn default() -> Self {
        let (unread, newest) = (VecDeque::new(), HashMap::new());
        Self { unread, gone: 0, newest, asked_in_vain: false, closed: false }
    }
}

#[cfg(test)]
mod tests;
