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
/// - The events of a run are numbered from 1 without gaps. An append that began after another one
///   returned has a higher number; appends at once are numbered in some order. An append that kept
///   nothing takes no number.
/// - Each append is an event: there is no deduplication, neither by `operation.id` (an operation
///   has any number of events) nor by content.
/// - Type and payload come back as they were: the payload as an equal `Value`, its numbers exact.
///   A store takes any type, and at least 1 MiB of payload, 100 levels deep; what is too much for
///   it is `Invalid`.
/// - An event is there for every reader when its append returns, and outlives the process. It need
///   not survive a loss of power.
///
/// # Cancellation
/// An interrupted append is whole or absent; its failure says `Unknown` unless it is known, and one
/// that was dropped may still be completed in the background. To append again may double the
/// event.
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
/// - Gives the events of `run`, whichever execution asks, with a sequence above `after_sequence`,
///   oldest first, at most `limit`: none for a limit of 0. A run without events gives none.
/// - Shows whole events without a gap between them, also while others are appended: who goes on
///   after the last sequence that was read misses nothing.
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
