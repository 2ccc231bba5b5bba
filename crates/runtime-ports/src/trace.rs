//! Decides how the events of a run are kept and read again.
//!
//! Knows nothing about what the events mean.

use async_trait::async_trait;
use runtime_types::ExecutionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{OperationContext, PortFailure};

/// One kept event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceRecord {
    /// Position within the run, from 1, without gaps.
    pub sequence: u64,
    /// Name of the event.
    pub event_type: String,
    /// The event.
    pub payload: Value,
}

/// Keeps the events of `operation.execution_id`.
///
/// # Contract
/// Events of a run are kept in the order of the calls, numbered from 1 without gaps.
///
/// # Cancellation
/// An interrupted append is whole or absent; its failure says `Unknown` unless it is known.
#[async_trait]
pub trait TraceSession: Send + Sync {
    /// Keeps an event.
    async fn append(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure>;
}

/// Reads the events of a run.
///
/// # Contract
/// Gives events with a sequence above `after_sequence`, oldest first, at most `limit`. A run
/// without events gives none.
///
/// # Cancellation
/// Reads only; nothing is left behind.
#[async_trait]
pub trait TraceReader: Send + Sync {
    /// A page of events.
    async fn read(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        after_sequence: u64,
        limit: usize,
    ) -> Result<Vec<TraceRecord>, PortFailure>;
}
