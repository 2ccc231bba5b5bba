//! Decides what a later turn may go on from.
//!
//! Knows nothing about requests or receipts. Invariant: a thread goes on only with the user, the
//! provider and the model that it began with, whoever served in their place meanwhile, in one turn
//! at a time, and from its last completed turn: one that failed leaves it as it was.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{
    AgentContinuation, AgentProvider, PortFailure, PortFailureKind, Transcript, TurnStart,
};
use uuid::Uuid;

use crate::{
    route::Route,
    thread_store::{MemoryThreads, ThreadStore},
};

/// A thread as it is kept: reasoning in it belongs to whoever issued it, and goes to nobody else.
#[derive(Clone)]
pub(crate) struct Thread {
    user_id: String,
    provider: AgentProvider,
    provider_model: String,
    transcript: Transcript,
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
    thread: Thread,
    _lease: Option<Lease>,
}

/// Holds a thread against other turns until it is dropped.
struct Lease {
    threads: Threads,
    id: String,
}

impl Default for Threads {
    /// Threads that are kept in memory.
    fn default() -> Self {
        Self { store: Arc::new(MemoryThreads::default()), in_use: Arc::default() }
    }
}

impl Threads {
    /// The thread that `start` asks for: a new one, or the one of its continuation.
    ///
    /// # Errors
    /// `Invalid` for another provider or model, `NotFound` for an unknown thread (or another
    /// user's), `Conflict` while another turn is at work on it.
    pub(crate) fn open(&self, start: &TurnStart, route: &Route) -> Result<OpenThread, PortFailure> {
        let ephemeral = start.request.ephemeral;
        let Some(continuation) = &start.continuation else {
            let id = (!ephemeral).then(|| Uuid::new_v4().to_string());
            let thread = fresh(start, route);
            return Ok(OpenThread { threads: self.clone(), id, thread, _lease: None });
        };
        let bound = (&continuation.provider, &*continuation.provider_model);
        check_binding(bound, route)?;
        let lease = self.lease(&continuation.thread_id)?;
        let found = self.store.load(&continuation.thread_id);
        let found = found.filter(|thread| thread.user_id == start.user_id);
        let thread = found.ok_or_else(unknown_thread)?;
        check_binding((&thread.provider, &thread.provider_model), route)?;
        let id = (!ephemeral).then(|| continuation.thread_id.clone());
        Ok(OpenThread { threads: self.clone(), id, thread, _lease: Some(lease) })
    }

    fn lease(&self, id: &str) -> Result<Lease, PortFailure> {
        if !self.in_use().insert(id.to_owned()) {
            return Err(thread_in_use());
        }
        Ok(Lease { threads: self.clone(), id: id.to_owned() })
    }

    fn in_use(&self) -> MutexGuard<'_, HashSet<String>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenThread {
    /// The id under which the thread will be kept; `None` for an ephemeral turn.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The messages, as far as the turn has come.
    pub(crate) const fn transcript(&self) -> &Transcript {
        &self.thread.transcript
    }

    /// The messages, to add new ones.
    pub(crate) const fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.thread.transcript
    }

    /// Keeps the thread, unless the turn is ephemeral, and says how to go on in it.
    pub(crate) fn keep(self) -> Option<AgentContinuation> {
        let thread_id = self.id?;
        let continuation = AgentContinuation {
            provider: self.thread.provider.clone(),
            provider_model: self.thread.provider_model.clone(),
            thread_id: thread_id.clone(),
        };
        self.threads.store.keep(thread_id, self.thread);
        Some(continuation)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.threads.in_use().remove(&self.id);
    }
}

fn fresh(start: &TurnStart, route: &Route) -> Thread {
    Thread {
        user_id: start.user_id.clone(),
        provider: route.primary().provider.clone(),
        provider_model: route.primary().provider_model.to_string(),
        transcript: Transcript::new(),
    }
}

fn check_binding(bound: (&AgentProvider, &str), route: &Route) -> Result<(), PortFailure> {
    if bound == (&route.primary().provider, &*route.primary().provider_model) {
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

#[cfg(test)]
mod tests;
