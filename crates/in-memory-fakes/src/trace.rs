//! Decides how the events of runs are kept in memory and read again.
//!
//! Knows nothing about what the events mean. Invariant: the events of a run are numbered from 1
//! without gaps.

use std::collections::HashMap;

use async_trait::async_trait;
use runtime_ports::{OperationContext, PortFailure, TraceReader, TraceRecord, TraceSession};
use runtime_types::ExecutionId;
use serde_json::Value;

use crate::fake_port::{FakePort, fake_port};

/// A [`TraceSession`] and [`TraceReader`] in memory. Clones share it.
///
/// Names for a [`FaultPlan`](crate::FaultPlan): `trace.append`, `trace.read`.
#[derive(Clone)]
pub struct FakeTrace {
    port: FakePort<HashMap<ExecutionId, Vec<TraceRecord>>, TraceCall>,
}

/// What a [`FakeTrace`] was asked.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceCall {
    /// Keep an event of this type.
    Append(String, Value),
    /// Give at most so many events of a run after this sequence.
    Read(ExecutionId, u64, usize),
}

fake_port!(FakeTrace, TraceCall);

impl FakeTrace {
    /// A trace without events.
    #[must_use]
    pub fn new() -> Self {
        Self { port: FakePort::new(HashMap::new()) }
    }

    /// All events of a run, oldest first.
    #[must_use]
    pub fn records(&self, run: &ExecutionId) -> Vec<TraceRecord> {
        self.port.world().get(run).cloned().unwrap_or_default()
    }
}

impl Default for FakeTrace {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl TraceSession for FakeTrace {
    async fn append(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        let event_type = event_type.to_owned();
        let call = TraceCall::Append(event_type.clone(), payload.clone());
        let append = |runs: &mut HashMap<ExecutionId, Vec<TraceRecord>>| {
            let records = runs.entry(operation.execution_id.clone()).or_default();
            let sequence = records.len() as u64 + 1;
            records.push(TraceRecord { sequence, event_type, payload });
            Ok(())
        };
        self.port.call(operation, "trace.append", call, append).await
    }
}

#[async_trait]
impl TraceReader for FakeTrace {
    async fn read(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        after_sequence: u64,
        limit: usize,
    ) -> Result<Vec<TraceRecord>, PortFailure> {
        let call = TraceCall::Read(run.clone(), after_sequence, limit);
        let read = |runs: &mut HashMap<ExecutionId, Vec<TraceRecord>>| {
            let records = runs.get(run).into_iter().flatten();
            let newer = records.filter(|record| record.sequence > after_sequence);
            Ok(newer.take(limit).cloned().collect())
        };
        self.port.call(operation, "trace.read", call, read).await
    }
}
