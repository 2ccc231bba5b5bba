//! What the saboteur does wrong when it writes.
//!
//! Knows nothing about what is read.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    ContextAuditSession, ContextAuditSnapshot, Interruption, ModelInvocationAudit,
    ModelInvocationAuditState as State, OperationContext, PortFailure,
};
use tokio::time::sleep;

use super::{AuditFault as Fault, Record, SabotagedAudit, deaf, refused, spoiling::spoiled};

const A_MOMENT: Duration = Duration::from_millis(1);

impl SabotagedAudit {
    pub(super) async fn write_badly(
        &self,
        operation: &OperationContext,
        record: Record,
    ) -> Result<(), PortFailure> {
        let record = spoiled(self.fault, record);
        if let Some(verdict) = self.judged(&record) {
            return verdict;
        }
        let record = self.mistaken(record);
        let written = self.written(operation, record.clone()).await;
        if written.is_ok() {
            self.memory().written.push(record);
        }
        written
    }

    /// What the saboteur says of a record without asking the store.
    fn judged(&self, record: &Record) -> Option<Result<(), PortFailure>> {
        let memory = self.memory();
        let mut of_id = memory.written.iter().filter(|written| written.id() == record.id());
        let knows = |id: &String| memory.written.iter().any(|written| written.id() == id);
        let refuses = match (self.fault, record) {
            (Fault::RefusesEmptyContexts, Record::Snapshot(it)) => it.messages.is_empty(),
            (Fault::RefusesRepetition, _) => of_id.any(|written| written == record),
            (Fault::RefusesEnds, Record::Invocation(it)) => it.state != State::Prepared,
            (Fault::NeedsABeginning, Record::Invocation(it)) => {
                it.state != State::Prepared && of_id.next().is_none()
            }
            (Fault::SharesIds, _) => of_id.any(|written| !written.is_of_kind(record)),
            (Fault::ResolvesNames, Record::Derivation(it)) => !knows(&it.source_snapshot_id),
            _ => false,
        };
        if refuses {
            return Some(Err(refused()));
        }
        let is_ignored = match (self.fault, record) {
            (Fault::ComparesDigestsOnly, Record::Snapshot(it)) => of_id.any(|written| {
                matches!(written, Record::Snapshot(first) if first.request_digest == it.request_digest)
            }),
            (Fault::IgnoresOtherDerivations, Record::Derivation(_)) => {
                of_id.any(|written| written.is_of_kind(record))
            }
            (Fault::ForgetsEnds, Record::Invocation(it)) => {
                it.state != State::Prepared && of_id.next().is_some()
            }
            (Fault::TakesASecondEnd, Record::Invocation(it)) => {
                it.state != State::Prepared && of_id.any(is_end)
            }
            _ => false,
        };
        is_ignored.then_some(Ok(()))
    }

    /// The record as the saboteur takes it for one that it knows.
    fn mistaken(&self, record: Record) -> Record {
        let memory = self.memory();
        match (self.fault, record) {
            (Fault::EndsSomethingElse, Record::Invocation(it)) if it.state != State::Prepared => {
                let begun = memory.written.iter().find_map(|written| match written {
                    Record::Invocation(begun) if begun.id == it.id => Some(begun),
                    _ => None,
                });
                let begun = begun.cloned().unwrap_or_else(|| it.clone());
                let ModelInvocationAudit { request_snapshot_id, model, .. } = begun;
                Record::Invocation(ModelInvocationAudit { request_snapshot_id, model, ..it })
            }
            (Fault::FilesByLastMessage, Record::Snapshot(it)) => {
                let last = it.messages.last().map(|entry| entry.digest());
                let like = memory.written.iter().find_map(|written| match written {
                    Record::Snapshot(first) => {
                        let is_like = first.messages.last().map(|entry| entry.digest()) == last;
                        is_like.then(|| first.messages.clone())
                    }
                    _ => None,
                });
                let messages = like.unwrap_or_else(|| it.messages.clone());
                Record::Snapshot(ContextAuditSnapshot { messages, ..it })
            }
            (_, record) => record,
        }
    }

    async fn written(
        &self,
        operation: &OperationContext,
        record: Record,
    ) -> Result<(), PortFailure> {
        let honest = &self.honest;
        match self.fault {
            Fault::WritesAnyway => write(honest, &deaf(operation), record).await,
            Fault::KeepsHalves => self.write_in_halves(operation, record).await,
            Fault::WritesLater => self.write_later(operation, record).await,
            Fault::WritesOneAtATime | Fault::LosesOneOfTwo => {
                self.write_under_way(operation, record).await
            }
            Fault::DeniesItsWrites => {
                write(honest, operation, record).await?;
                let waited = operation.bounded(sleep(10 * A_MOMENT)).await;
                waited.map_err(Interruption::before_sending)
            }
            Fault::WaitsItOut => {
                operation.remaining()?;
                write(honest, &deaf(operation), record).await?;
                operation.remaining().map(drop)
            }
            _ => write(honest, operation, record).await,
        }
    }

    /// A context stands there with half of its messages until the others are there, too.
    async fn write_in_halves(
        &self,
        operation: &OperationContext,
        record: Record,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        if let Record::Snapshot(whole) = &record {
            let messages = whole.messages.prefix(whole.messages.len() / 2);
            let half = ContextAuditSnapshot { messages, ..whole.clone() };
            self.memory().half = Some(half);
            sleep(A_MOMENT).await;
            self.memory().half = None;
        }
        write(&self.honest, operation, record).await
    }

    /// Says that nothing was kept, and then it is.
    async fn write_later(
        &self,
        operation: &OperationContext,
        record: Record,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let waited = operation.bounded(sleep(5 * A_MOMENT)).await;
        let (honest, later) = (Arc::clone(&self.honest), deaf(operation));
        let write = async move { write(&honest, &later, record).await };
        let Err(interruption) = waited else { return write.await };
        tokio::spawn(async move {
            sleep(10 * A_MOMENT).await;
            write.await
        });
        Err(interruption.before_sending())
    }

    /// Counts the writes that are under way.
    async fn write_under_way(
        &self,
        operation: &OperationContext,
        record: Record,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        if self.memory().under_way > 0 {
            return if self.fault == Fault::LosesOneOfTwo { Ok(()) } else { Err(refused()) };
        }
        self.memory().under_way += 1;
        sleep(A_MOMENT).await;
        let outcome = write(&self.honest, operation, record).await;
        self.memory().under_way -= 1;
        outcome
    }
}

fn is_end(written: &Record) -> bool {
    matches!(written, Record::Invocation(it) if it.state != State::Prepared)
}

async fn write(
    honest: &Arc<dyn ContextAuditSession>,
    operation: &OperationContext,
    record: Record,
) -> Result<(), PortFailure> {
    match record {
        Record::Snapshot(it) => honest.snapshot(operation, it).await,
        Record::Derivation(it) => honest.derivation(operation, it).await,
        Record::Invocation(it) => honest.model_invocation(operation, it).await,
    }
}
