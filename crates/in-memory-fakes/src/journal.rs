//! Decides how the records of runs are kept in memory, and who may add to them.
//!
//! Knows nothing about what is journalled. Invariant: the records of a run have no gap, nothing
//! follows a terminal one, and only a living lease with the newest fence adds any.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    ExecutionJournal, FencingToken, JournalRecord, JournalRecordKind, OperationContext,
    PortFailure, PortFailureKind,
};
use runtime_types::ExecutionId;
use tokio::time::Instant;

use crate::fake_port::{FakePort, fake_port};

/// An [`ExecutionJournal`] in memory, whose leases lapse on tokio's clock. Clones share it.
///
/// Names for a [`FaultPlan`](crate::FaultPlan): `journal.acquire`, `journal.renew`,
/// `journal.release`, `journal.append`, `journal.read`.
#[derive(Clone)]
pub struct FakeJournal {
    port: FakePort<HashMap<ExecutionId, Run>, JournalCall>,
}

/// What a [`FakeJournal`] was asked.
#[derive(Debug, Clone, PartialEq)]
pub enum JournalCall {
    /// Take a run over for this holder.
    Acquire(ExecutionId, String, Duration),
    /// Prolong a lease.
    Renew(ExecutionId, FencingToken, Duration),
    /// Give a run up.
    Release(ExecutionId, FencingToken),
    /// Add records after so many.
    Append(ExecutionId, FencingToken, u64, Vec<JournalRecord>),
    /// Give at most so many records from a position on.
    Read(ExecutionId, u64, usize),
}

#[derive(Default)]
struct Run {
    records: Vec<JournalRecord>,
    fence: u64,
    lease: Option<Lease>,
}

struct Lease {
    holder: String,
    granted: Instant,
    ttl: Duration,
}

fake_port!(FakeJournal, JournalCall);

impl FakeJournal {
    /// A journal without runs.
    #[must_use]
    pub fn new() -> Self {
        Self { port: FakePort::new(HashMap::new()) }
    }

    /// All records of a run.
    #[must_use]
    pub fn records(&self, run: &ExecutionId) -> Vec<JournalRecord> {
        self.port.world().get(run).map(|run| run.records.clone()).unwrap_or_default()
    }
}

impl Default for FakeJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl Lease {
    fn granted(holder: &str, ttl: Duration) -> Self {
        Self { holder: holder.to_owned(), granted: Instant::now(), ttl }
    }

    fn lives(&self) -> bool {
        self.granted.elapsed() < self.ttl
    }
}

impl Run {
    fn acquire(&mut self, holder: &str, ttl: Duration) -> Result<FencingToken, PortFailure> {
        if self.lease.as_ref().is_some_and(|lease| lease.lives() && lease.holder != holder) {
            return Err(conflict("JOURNAL_HELD", "another holder has the run; wait for its lease"));
        }
        self.fence += 1;
        self.lease = Some(Lease::granted(holder, ttl));
        Ok(FencingToken(self.fence))
    }

    fn held(&mut self, fence: FencingToken) -> Result<&mut Lease, PortFailure> {
        let newest = fence == FencingToken(self.fence);
        self.lease.as_mut().filter(|lease| newest && lease.lives()).ok_or_else(|| {
            conflict("JOURNAL_FENCE_STALE", "the run is not held under this fence; acquire it")
        })
    }

    fn renew(&mut self, fence: FencingToken, ttl: Duration) -> Result<(), PortFailure> {
        let lease = self.held(fence)?;
        *lease = Lease::granted(&lease.holder, ttl);
        Ok(())
    }

    fn release(&mut self, fence: FencingToken) {
        if fence == FencingToken(self.fence) {
            self.lease = None;
        }
    }

    fn append(
        &mut self,
        fence: FencingToken,
        expected: u64,
        records: &[JournalRecord],
    ) -> Result<(), PortFailure> {
        self.held(fence)?;
        if expected != self.records.len() as u64 {
            return Err(conflict("JOURNAL_MOVED", "the run has another length; read it again"));
        }
        if !(expected..).zip(records).all(|(sequence, record)| record.sequence == sequence) {
            return Err(conflict("JOURNAL_GAP", "records must be numbered without gaps"));
        }
        let followed = self.records.last().into_iter().chain(records).rev().skip(1);
        let mut followed = followed.take(records.len());
        if followed.any(|record| record.kind == JournalRecordKind::Terminal) {
            return Err(conflict("JOURNAL_TERMINATED", "nothing follows a terminal record"));
        }
        self.records.extend_from_slice(records);
        Ok(())
    }

    fn page(&self, from: u64, limit: usize) -> Vec<JournalRecord> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        self.records.iter().skip(from).take(limit).cloned().collect()
    }
}

fn conflict(code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(PortFailureKind::Conflict, code, message)
}

#[async_trait]
impl ExecutionJournal for FakeJournal {
    async fn acquire(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        holder: &str,
        ttl: Duration,
    ) -> Result<FencingToken, PortFailure> {
        let call = JournalCall::Acquire(run.clone(), holder.to_owned(), ttl);
        let effect = |runs: &mut HashMap<ExecutionId, Run>| {
            runs.entry(run.clone()).or_default().acquire(holder, ttl)
        };
        self.port.call(operation, "journal.acquire", call, effect).await
    }

    async fn renew(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        fence: FencingToken,
        ttl: Duration,
    ) -> Result<(), PortFailure> {
        let call = JournalCall::Renew(run.clone(), fence, ttl);
        let effect = |runs: &mut HashMap<ExecutionId, Run>| {
            runs.entry(run.clone()).or_default().renew(fence, ttl)
        };
        self.port.call(operation, "journal.renew", call, effect).await
    }

    async fn release(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        fence: FencingToken,
    ) -> Result<(), PortFailure> {
        let call = JournalCall::Release(run.clone(), fence);
        let effect = |runs: &mut HashMap<ExecutionId, Run>| {
            runs.entry(run.clone()).or_default().release(fence);
            Ok(())
        };
        self.port.call(operation, "journal.release", call, effect).await
    }

    async fn append(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        fence: FencingToken,
        expected: u64,
        records: &[JournalRecord],
    ) -> Result<(), PortFailure> {
        let call = JournalCall::Append(run.clone(), fence, expected, records.to_vec());
        let effect = |runs: &mut HashMap<ExecutionId, Run>| {
            runs.entry(run.clone()).or_default().append(fence, expected, records)
        };
        self.port.call(operation, "journal.append", call, effect).await
    }

    async fn read(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<JournalRecord>, PortFailure> {
        let call = JournalCall::Read(run.clone(), from, limit);
        let effect = |runs: &mut HashMap<ExecutionId, Run>| {
            Ok(runs.get(run).map(|run| run.page(from, limit)).unwrap_or_default())
        };
        self.port.call(operation, "journal.read", call, effect).await
    }
}
