//! Decides what code of the embedder is told of the run that calls it, and how it may fail.
//!
//! Knows nothing about what a callback is asked. Invariant: a callback that panics fails its run,
//! never the process.

#[cfg(test)]
mod tests;

use std::{fmt, future::Future, sync::Arc};

use runtime_decision::RunIdentity;
use runtime_ports::{OperationContext, PortFailure, PortFailureKind};
use serde_json::{Map, Value};
use thiserror::Error;

use super::contained::{Panicked, contained};

/// Most bytes of a callback's own words that are kept.
const MAX_REASON_BYTES: usize = 2_000;

/// The run that calls, for whoever is called.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// Deadline and cancellation of this call; to be passed on to every port.
    pub operation: OperationContext,
    /// The names of the run.
    pub identity: Arc<RunIdentity>,
    /// What the host said about the agent and the task.
    pub metadata: Arc<Map<String, Value>>,
}

/// Why a callback came to no result. The run fails, unless the callback was told to stop.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// It failed.
    #[error("{0}")]
    Failed(String),
    /// It stopped because its operation was cancelled, with nothing done that must not be done
    /// twice. Of an operation that was not cancelled, this is a failure.
    #[error("it stopped before it came to a result")]
    Interrupted,
}

impl CallbackError {
    /// A failure, in words without payload or secret: they become part of the run's error. At most
    /// 2,000 bytes of them are kept.
    ///
    /// # Examples
    /// ```
    /// # use runtime_kernel::engine::CallbackError;
    /// fn limit(text: &str) -> Result<u32, CallbackError> {
    ///     text.parse().map_err(CallbackError::new)
    /// }
    /// assert_eq!(limit("many").unwrap_err().to_string(), "invalid digit found in string");
    /// ```
    pub fn new(reason: impl fmt::Display) -> Self {
        let mut reason = reason.to_string();
        reason.truncate(reason.floor_char_boundary(MAX_REASON_BYTES));
        Self::Failed(reason)
    }
}

/// A port that was cancelled before it did anything interrupts the callback that called it.
impl From<PortFailure> for CallbackError {
    fn from(failure: PortFailure) -> Self {
        use runtime_ports::CommitDisposition::NotCommitted;

        match (failure.kind, failure.commit) {
            (PortFailureKind::Canceled, NotCommitted) => Self::Interrupted,
            _ => Self::new(failure),
        }
    }
}

/// How a callback ended without a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    Failed(String),
    Interrupted,
}

/// Runs `work` and holds back its panics. `work` is polled in place: whoever drops this future
/// drops `work`.
pub(crate) async fn answered<T>(
    operation: &OperationContext,
    work: impl Future<Output = Result<T, CallbackError>>,
) -> Result<T, Unanswered> {
    match contained(work).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(CallbackError::Interrupted)) if operation.cancellation.is_cancelled() => {
            Err(Unanswered::Interrupted)
        }
        Ok(Err(error)) => Err(Unanswered::Failed(error.to_string())),
        Err(Panicked) => Err(Unanswered::Failed("it panicked".to_owned())),
    }
}
