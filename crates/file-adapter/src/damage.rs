//! Decides what is kept of the lines that could not be used.
//!
//! Knows numbers and reasons; never a byte of the lines. Bounded, whatever the file holds.

use std::sync::{Arc, Mutex, PoisonError};

/// Most damaged lines that are listed.
const LISTED_AT_MOST: usize = 1_000;

/// A line of the file that could not be used. It is left in place, and the others count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Number of the line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// The damage that was found, shared between who reads the file and who asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct DamageList(Arc<Mutex<Listed>>);

#[derive(Debug, Default)]
struct Listed {
    lines: Vec<Damage>,
    torn_tail: Option<Damage>,
}

impl DamageList {
    /// Lists a line, and says so in the log.
    pub(crate) fn add(&self, line: u64, reason: &'static str) {
        let lines = &mut self.lock().lines;
        if lines.len() < LISTED_AT_MOST {
            tracing::warn!(line, reason, "a record was skipped");
            lines.push(Damage { line, reason });
        }
    }

    /// Says whether line `line`, the last one, has no end.
    pub(crate) fn set_torn_tail(&self, line: u64, is_torn: bool) {
        let torn = Damage { line, reason: "the last line has no end" };
        self.lock().torn_tail = is_torn.then_some(torn);
    }

    /// What is listed, in the order of the file.
    pub(crate) fn all(&self) -> Vec<Damage> {
        let listed = self.lock();
        listed.lines.iter().chain(&listed.torn_tail).cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
