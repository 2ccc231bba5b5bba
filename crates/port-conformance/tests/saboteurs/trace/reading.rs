//! What the saboteur does wrong when it reads.
//!
//! Knows nothing about how it was appended.

use std::time::Duration;

use runtime_ports::{OperationContext, PortFailure, TraceRecord};
use runtime_types::ExecutionId;
use serde_json::Value;
use tokio::time::sleep;

use super::{SabotagedTrace, TraceFault as Fault, deaf, refused};

impl SabotagedTrace {
    pub(super) async fn read_badly(
        &self,
        operation: &OperationContext,
        run: &ExecutionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<TraceRecord>, PortFailure> {
        let (reader, run) = (&self.honest.reader, self.filed(run));
        match self.fault {
            Fault::ReadsAnyway => return reader.read(&deaf(operation), &run, after, limit).await,
            Fault::ReadsTheOwnRun => {
                return reader.read(operation, &operation.execution_id, after, limit).await;
            }
            // Whoever is dropped here never leaves.
            Fault::BreaksWhenDropped => {
                if std::mem::replace(&mut self.memory().reading, true) {
                    return Err(refused());
                }
                sleep(Duration::from_millis(1)).await;
                self.memory().reading = false;
            }
            _ => {}
        }
        let (after, limit) = self.mistaken(after, limit);
        let all = reader.read(operation, &run, 0, usize::MAX).await?;
        let total = all.len();
        let newer = all.into_iter().filter(|record| record.sequence > after);
        let page = self.cut(newer.collect(), limit);
        Ok(self.renumbered(&run, self.spoiled(&run, page), total))
    }

    fn mistaken(&self, after: u64, limit: usize) -> (u64, usize) {
        match self.fault {
            Fault::IncludesTheCursor => (after.saturating_sub(1), limit),
            Fault::WrapsTheCursor if i64::try_from(after).is_err() => (0, limit),
            Fault::IgnoresLimits => (after, usize::MAX),
            Fault::TakesZeroForAll if limit == 0 => (after, usize::MAX),
            _ => (after, limit),
        }
    }

    fn cut(&self, mut newer: Vec<TraceRecord>, limit: usize) -> Vec<TraceRecord> {
        if self.fault == Fault::GivesTheNewest {
            return newer.split_off(newer.len().saturating_sub(limit));
        }
        newer.truncate(limit);
        newer
    }

    fn spoiled(&self, run: &ExecutionId, mut page: Vec<TraceRecord>) -> Vec<TraceRecord> {
        let memory = self.memory();
        match self.fault {
            Fault::InventsABeginning if page.is_empty() => {
                let (event_type, payload) = ("run_started".to_owned(), Value::Null);
                page.push(TraceRecord { sequence: 1, event_type, payload });
            }
            Fault::TurnsAround => page.reverse(),
            Fault::SortsAsText => page.sort_by_key(|record| record.sequence.to_string()),
            Fault::ShowsTheLaterFirst if memory.under_way > 0 && page.len() > 1 => {
                page.remove(0);
            }
            Fault::KeepsHalves => {
                let half = memory.half.iter().filter(|half| half.0 == *run);
                page.extend(half.map(|half| half.1.clone()));
            }
            _ => {}
        }
        page
    }

    /// The page with the numbers that the saboteur gives; the run has `total` events.
    fn renumbered(
        &self,
        run: &ExecutionId,
        mut page: Vec<TraceRecord>,
        total: usize,
    ) -> Vec<TraceRecord> {
        let memory = self.memory();
        let others = memory.appended.iter().filter(|event| event.0 != *run).count() as u64;
        let of_the_dead = total.saturating_sub(memory.appended.len()) as u64;
        let number = |right: u64| match self.fault {
            Fault::CountsFromZero => right - 1,
            Fault::SkipsTheTenth if right >= 10 => right + 1,
            Fault::TakesNumbersEarly => right + memory.under_way,
            Fault::RacesForNumbers => *memory.given.get(right as usize - 1).unwrap_or(&right),
            Fault::NumbersAllRuns => right + others,
            Fault::RestartsNumbers if right > of_the_dead => right - of_the_dead,
            _ => right,
        };
        page.iter_mut().for_each(|record| record.sequence = number(record.sequence));
        page
    }
}
