//! Decides where threads are kept between turns, and which of them are forgotten.
//!
//! Knows nothing about who may go on in a thread.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::thread::Thread;

/// Threads that are kept in memory; the one that was used least recently goes first.
pub(crate) const KEPT_IN_MEMORY: usize = 1_000;

/// Keeps threads between turns.
pub(crate) trait ThreadStore: Send + Sync {
    /// The thread, if it is known.
    fn load(&self, thread_id: &str) -> Option<Thread>;

    /// Keeps the thread in place of what was kept under this id.
    fn keep(&self, thread_id: String, thread: Thread);
}

/// Keeps the threads that were used last.
#[derive(Default)]
pub(crate) struct MemoryThreads(Mutex<Recent>);

#[derive(Default)]
struct Recent {
    threads: HashMap<String, Thread>,
    order: VecDeque<String>,
}

impl MemoryThreads {
    fn lock(&self) -> MutexGuard<'_, Recent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ThreadStore for MemoryThreads {
    fn load(&self, thread_id: &str) -> Option<Thread> {
        self.lock().threads.get(thread_id).cloned()
    }

    fn keep(&self, thread_id: String, thread: Thread) {
        let mut recent = self.lock();
        recent.order.retain(|held| *held != thread_id);
        recent.order.push_back(thread_id.clone());
        recent.threads.insert(thread_id, thread);
        if recent.order.len() > KEPT_IN_MEMORY
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.threads.remove(&oldest);
        }
    }
}
