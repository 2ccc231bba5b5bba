//! Decides what a later turn may go on from.
//!
//! Knows nothing about requests or receipts. Invariant: a thread goes on only with the user, the
//! provider and the model that it began with, in one turn at a time, and from its last completed
//! turn: one that failed leaves it as it was.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use runtime_ports::{
    AgentContinuation, AgentProvider, PortFailure, PortFailureKind, Transcript, TurnStart,
};
use uuid::Uuid;

use crate::route::Route;

/// Threads that are kept in memory; the one that was used least recently goes first.
pub(crate) const KEPT_IN_MEMORY: usize = 1_000;

/// A thread as it is kept. Reasoning in it was issued by `provider`, which is the only one that it
/// is ever sent to.
#[derive(Debug, Clone)]
pub(crate) struct Thread {
    pub(crate) user_id: String,
    pub(crate) provider: AgentProvider,
    pub(crate) provider_model: String,
    pub(crate) transcript: Transcript,
}

/// Keeps threads between turns.
#[async_trait]
pub(crate) trait ThreadStore: Send + Sync {
    /// The thread, if it is known.
    async fn load(&self, thread_id: &str) -> Result<Option<Thread>, PortFailure>;

    /// Keeps the thread in place of what was kept under this id.
    async fn keep(&self, thread_id: &str, thread: Thread) -> Result<(), PortFailure>;
}

/// The threads of a router, and which of them are in use. Clones share both.
#[derive(Clone)]
pub(crate) struct Threads {
    store: Arc<dyn ThreadStore>,
    in_use: Arc<Mutex<HashSet<String>>>,
}

/// A thread that a turn works on. Dropping it gives the thread back as it was.
pub(crate) struct OpenThread {
    threads: Threads,
    id: Option<String>,
    pub(crate) thread: Thread,
    _lease: Option<Lease>,
}

struct Lease {
    in_use: Arc<Mutex<HashSet<String>>>,
    id: String,
}

impl Threads {
    pub(crate) fn in_memory() -> Self {
        Self { store: Arc::new(MemoryThreads::default()), in_use: Arc::default() }
    }

    /// The thread that `start` asks for: a new one, or the one of its continuation.
    ///
    /// # Errors
    /// `Invalid` for another provider or model, `NotFound` for an unknown thread (or another
    /// user's), `Conflict` while another turn is at work on it.
    pub(crate) async fn open(
        &self,
        start: &TurnStart,
        route: &Route,
    ) -> Result<OpenThread, PortFailure> {
        let ephemeral = start.request.ephemeral;
        let Some(continuation) = &start.continuation else {
            let id = (!ephemeral).then(|| Uuid::new_v4().to_string());
            let thread = fresh(start, route);
            return Ok(OpenThread { threads: self.clone(), id, thread, _lease: None });
        };
        let bound = (&continuation.provider, &*continuation.provider_model);
        check_binding(bound, route)?;
        let lease = self.lease(&continuation.thread_id)?;
        let found = self.store.load(&continuation.thread_id).await?;
        let found = found.filter(|thread| thread.user_id == start.user_id);
        let thread = found.ok_or_else(unknown_thread)?;
        check_binding((&thread.provider, &thread.provider_model), route)?;
        let id = (!ephemeral).then(|| continuation.thread_id.clone());
        Ok(OpenThread { threads: self.clone(), id, thread, _lease: Some(lease) })
    }

    fn lease(&self, id: &str) -> Result<Lease, PortFailure> {
        if !lock(&self.in_use).insert(id.to_owned()) {
            return Err(thread_in_use());
        }
        Ok(Lease { in_use: Arc::clone(&self.in_use), id: id.to_owned() })
    }
}

impl OpenThread {
    /// The id under which the thread will be kept; `None` for an ephemeral turn.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Keeps the thread, unless the turn is ephemeral, and says how to go on in it.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn keep(self) -> Result<Option<AgentContinuation>, PortFailure> {
        let Some(thread_id) = self.id else { return Ok(None) };
        let continuation = AgentContinuation {
            provider: self.thread.provider.clone(),
            provider_model: self.thread.provider_model.clone(),
            thread_id: thread_id.clone(),
        };
        self.threads.store.keep(&thread_id, self.thread).await?;
        Ok(Some(continuation))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        lock(&self.in_use).remove(&self.id);
    }
}

/// Keeps the threads that were used last.
#[derive(Default)]
struct MemoryThreads(Mutex<Recent>);

#[derive(Default)]
struct Recent {
    threads: HashMap<String, Thread>,
    order: VecDeque<String>,
}

#[async_trait]
impl ThreadStore for MemoryThreads {
    async fn load(&self, thread_id: &str) -> Result<Option<Thread>, PortFailure> {
        Ok(lock(&self.0).threads.get(thread_id).cloned())
    }

    async fn keep(&self, thread_id: &str, thread: Thread) -> Result<(), PortFailure> {
        let mut recent = lock(&self.0);
        recent.order.retain(|held| held != thread_id);
        recent.order.push_back(thread_id.to_owned());
        recent.threads.insert(thread_id.to_owned(), thread);
        if recent.order.len() > KEPT_IN_MEMORY
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.threads.remove(&oldest);
        }
        Ok(())
    }
}

fn fresh(start: &TurnStart, route: &Route) -> Thread {
    Thread {
        user_id: start.user_id.clone(),
        provider: route.provider.clone(),
        provider_model: route.provider_model.to_string(),
        transcript: Transcript::new(),
    }
}

fn check_binding(bound: (&AgentProvider, &str), route: &Route) -> Result<(), PortFailure> {
    if bound == (&route.provider, &*route.provider_model) {
        return Ok(());
    }
    Err(PortFailure::not_sent(
        PortFailureKind::Invalid,
        "continuation_of_another_model",
        "the thread belongs to another provider or model; begin a new thread",
    ))
}

fn unknown_thread() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::NotFound,
        "unknown_thread",
        "the thread is not known here any more; begin a new thread",
    )
}

fn thread_in_use() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::Conflict,
        "thread_in_use",
        "another turn is at work on the thread; wait for its end",
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
