//! Decides how an execution can be continued by another process.
//!
//! Knows nothing about what is journalled. Invariant: records of a run have no gap, and only the
//! holder of the newest fence can append.

use std::time::Duration;

use async_trait::async_trait;
use runtime_types::ExecutionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{OperationContext, PortFailure};

/// Grows with every acquisition of a run; a stale one can write nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FencingToken(pub u64);

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalRecordKind {
    /// Something that came from outside.
    Input,
    /// An effect that is about to be dispatched.
    Intent,
    /// What became of an effect.
    Outcome,
    /// The end of the run; nothing follows.
    Terminal,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalRecord {
    /// Position within the run, from 0, without gaps.
    pub sequence: u64,
    /// When it was written, in Unix milliseconds.
    pub at_ms: u64,
    /// What it is.
    pub kind: JournalRecordKind,
    /// Its content, versioned by the writer.
    pub payload: Value,
}

/// Keeps the records of runs. Provisional until durable execution uses it.
///
/// # Contract
/// - `acquire` gives a fence above every earlier one of the run, or `Conflict` while another
///   holder's lease lives. The store's own clock decides when it lapsed.
/// - `append` is all or nothing, and durable on return. A stale fence, an `expected` that is not
///   the number of records, or a gap is `Conflict`, and changes nothing.
///
/// # Cancellation
/// An interrupted append is whole or absent; read before deciding.
#[async_trait]
pub trait ExecutionJournal: Send + Sync {
    /// Takes the run over for `ttl`.
    async fn acquire(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        holder: &str,
        ttl: Duration,
    ) -> Result<FencingToken, PortFailure>;

    /// Prolongs the lease of `fence` to `ttl` from now.
    async fn renew(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        fence: FencingToken,
        ttl: Duration,
    ) -> Result<(), PortFailure>;

    /// Gives the run up. Idempotent.
    async fn release(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        fence: FencingToken,
    ) -> Result<(), PortFailure>;

    /// Adds records after the `expected` ones that are there.
    async fn append(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        fence: FencingToken,
        expected: u64,
        records: &[JournalRecord],
    ) -> Result<(), PortFailure>;

    /// Records from position `from` on, at most `limit`.
    async fn read(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<JournalRecord>, PortFailure>;
}
