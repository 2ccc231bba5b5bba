//! Decides which operations a cancellation reaches.
//!
//! Knows nothing about what the operations do. Invariant: an operation that was cancelled, itself or
//! through an ancestor, never starts again while its id is remembered; an operation that ended
//! leaves nothing but its bounded trace of ancestry.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{Interruption, PortFailure, PortFailureKind};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Ids whose cancellation, and ended operations whose parent, is remembered; the oldest go first.
pub(crate) const REMEMBERED: usize = 10_000;

/// The running operations, each under its parent. Clones share one tree.
#[derive(Clone, Default)]
pub(crate) struct OperationTree(Arc<Mutex<Running>>);

/// The place of a running operation. Dropping it ends the operation in the tree.
pub(crate) struct Registration {
    tree: OperationTree,
    id: Uuid,
    token: CancellationToken,
    concluded: bool,
}

#[derive(Default)]
struct Running {
    operations: HashMap<Uuid, Operation>,
    cancelled: Remembered<()>,
    ended: Remembered<Ended>,
}

struct Ended {
    parent: Option<Uuid>,
    /// Whether it had begun; the id of one that was refused may be tried again.
    concluded: bool,
}

struct Operation {
    parent: Option<Uuid>,
    token: CancellationToken,
}

impl OperationTree {
    /// Puts an operation under its parent. Cancelling it cancels `token`.
    ///
    /// # Errors
    /// `Conflict` when the id runs or has run; `Canceled` when it or an ancestor was cancelled.
    pub(crate) fn register(
        &self,
        id: Uuid,
        parent: Option<Uuid>,
        token: CancellationToken,
    ) -> Result<Registration, PortFailure> {
        let mut running = self.lock();
        if running.operations.contains_key(&id) {
            return Err(already_running());
        }
        if running.ended.get(&id).is_some_and(|ended| ended.concluded) {
            return Err(already_ended());
        }
        if running.is_cancelled(id) || parent.is_some_and(|parent| running.is_cancelled(parent)) {
            return Err(Interruption::Canceled.before_sending());
        }
        running.operations.insert(id, Operation { parent, token: token.clone() });
        Ok(Registration { tree: self.clone(), id, token, concluded: false })
    }

    /// Cancels an operation and its descendants, now and later. True when one of them was running
    /// and not yet cancelled.
    pub(crate) fn cancel(&self, id: Uuid) -> bool {
        let mut running = self.lock();
        running.cancelled.remember(id, ());
        let reached = running.running_under(id);
        // Under the lock, so that an operation that concludes sees either both or neither.
        reached.iter().for_each(CancellationToken::cancel);
        !reached.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registration {
    /// The operation.
    pub(crate) const fn id(&self) -> Uuid {
        self.id
    }

    /// Fires when the operation is cancelled.
    pub(crate) const fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Ends the operation, and says whether it was cancelled before: from now on a cancellation
    /// finds nothing running, so that its answer and the end that is recorded agree.
    pub(crate) fn conclude(mut self) -> bool {
        self.concluded = true;
        let mut running = self.tree.lock();
        running.end(self.id, true);
        self.token.is_cancelled()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if !self.concluded {
            self.tree.lock().end(self.id, false);
        }
    }
}

impl Running {
    /// Whether `id` or one of its known ancestors was cancelled. One that still runs need not be
    /// remembered for that.
    fn is_cancelled(&self, id: Uuid) -> bool {
        let stops = |id: &Uuid| self.operations.get(id).is_some_and(|it| it.token.is_cancelled());
        self.lineage(id).any(|ancestor| self.cancelled.contains(&ancestor) || stops(&ancestor))
    }

    fn running_under(&self, id: Uuid) -> Vec<CancellationToken> {
        let live = self.operations.iter().filter(|(_, found)| !found.token.is_cancelled());
        let under = live.filter(|(operation, _)| self.lineage(**operation).any(|up| up == id));
        under.map(|(_, found)| found.token.clone()).collect()
    }

    /// `id`, its parent, the parent of that, as far as they are known. A chain that bites its own
    /// tail ends after as many steps as there are operations.
    fn lineage(&self, id: Uuid) -> impl Iterator<Item = Uuid> + '_ {
        let known = self.operations.len() + self.ended.len() + 2;
        std::iter::successors(Some(id), |child| self.parent_of(child)).take(known)
    }

    fn parent_of(&self, id: &Uuid) -> Option<Uuid> {
        match self.operations.get(id) {
            Some(operation) => operation.parent,
            None => self.ended.get(id).and_then(|ended| ended.parent),
        }
    }

    fn end(&mut self, id: Uuid, concluded: bool) {
        if let Some(Operation { parent, .. }) = self.operations.remove(&id) {
            self.ended.remember(id, Ended { parent, concluded });
        }
    }
}

/// A map that forgets its oldest entry when it would grow beyond [`REMEMBERED`].
struct Remembered<V> {
    values: HashMap<Uuid, V>,
    order: VecDeque<Uuid>,
}

impl<V> Default for Remembered<V> {
    fn default() -> Self {
        Self { values: HashMap::new(), order: VecDeque::new() }
    }
}

impl<V> Remembered<V> {
    fn remember(&mut self, id: Uuid, value: V) {
        if self.values.insert(id, value).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > REMEMBERED {
            self.order.pop_front().map(|oldest| self.values.remove(&oldest));
        }
    }

    fn contains(&self, id: &Uuid) -> bool {
        self.values.contains_key(id)
    }

    fn get(&self, id: &Uuid) -> Option<&V> {
        self.values.get(id)
    }

    fn len(&self) -> usize {
        self.values.len()
    }
}

fn already_running() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::Conflict,
        "operation_running",
        "an operation of this id is running; start under a fresh id",
    )
}

fn already_ended() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::Conflict,
        "operation_ended",
        "an operation of this id has run before; start under a fresh id",
    )
}

#[cfg(test)]
mod tests;
