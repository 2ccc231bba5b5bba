//! What the saboteur does wrong when it writes.
//!
//! Knows nothing about what is read.

use std::time::Duration;

use runtime_ports::{
    OperationContext, PortFailure, PortFailureKind, RequestMeter, TurnEnd, UsageReceipt,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{ReceiptFault as Fault, SabotagedStore};

fn is_conflict(outcome: &Result<(), PortFailure>) -> bool {
    outcome.as_ref().is_err_and(|failure| failure.kind == PortFailureKind::Conflict)
}

fn repeated() -> PortFailure {
    PortFailure::rejected(PortFailureKind::Conflict, "REPEATED", "that is there already")
}

impl SabotagedStore {
    /// The operation, deaf if the saboteur is.
    fn operation(&self, operation: &OperationContext) -> OperationContext {
        if self.fault != Fault::WritesAnyway {
            return operation.clone();
        }
        let cancellation = CancellationToken::new();
        let deadline = Instant::now() + Duration::from_secs(60);
        OperationContext { cancellation, deadline, ..operation.clone() }
    }

    pub(super) async fn open_badly(
        &self,
        operation: &OperationContext,
        opened: UsageReceipt,
    ) -> Result<(), PortFailure> {
        let known = self.memory().opened.contains(&opened);
        if known && self.fault == Fault::RefusesRepetition {
            return Err(repeated());
        }
        let id = opened.operation_id;
        let outcome = self.honest.open(&self.operation(operation), opened.clone()).await;
        if outcome.is_ok() && !known {
            self.memory().opened.push(opened);
        }
        match self.fault {
            Fault::TakesSecondOpenings if is_conflict(&outcome) => Ok(()),
            Fault::ReopensTheSettled if self.memory().has_settled(id) => Ok(()),
            _ => outcome,
        }
    }

    pub(super) async fn note_badly(
        &self,
        operation: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Result<(), PortFailure> {
        let known = self.memory().notes.insert(turn, meter.clone()).is_some();
        match self.fault {
            Fault::LosesNotes => return Ok(()),
            Fault::KeepsOneNote if known => return Ok(()),
            Fault::RefusesRepetition if known => return Err(repeated()),
            _ => {}
        }
        let operation = self.operation(operation);
        let outcome = self.honest.note_request(&operation, turn, ordinal, meter.clone()).await;
        let was_refused = is_conflict(&outcome) && self.was_refused(turn, meter);
        match self.fault {
            Fault::TakesSecondNotes if is_conflict(&outcome) => Ok(()),
            Fault::BelievesRefusedNotes if was_refused => Ok(()),
            Fault::NotesTheSettled if self.memory().has_settled(turn) => Ok(()),
            Fault::NotesAnything => Ok(()),
            _ => outcome,
        }
    }

    /// Whether this value was refused before; it is remembered as refused from now on.
    fn was_refused(&self, turn: Uuid, meter: RequestMeter) -> bool {
        let (mut memory, refused) = (self.memory(), (turn, meter));
        let before = memory.refused.contains(&refused);
        memory.refused.push(refused);
        before
    }

    pub(super) async fn settle_badly(
        &self,
        operation: &OperationContext,
        receipt: UsageReceipt,
    ) -> Result<(), PortFailure> {
        let operation = self.operation(operation);
        let settled = self.memory().settled.clone();
        match self.fault {
            Fault::RefusesRepetition if settled.contains(&receipt) => return Err(repeated()),
            Fault::LosesTheTenth if settled.len() == 9 => return Ok(()),
            Fault::OpensOnSettling => self.open_for(&operation, &receipt).await,
            _ => {}
        }
        let kept = match self.fault {
            Fault::LosesDetails => UsageReceipt { losses: Vec::new(), ..receipt.clone() },
            _ => receipt.clone(),
        };
        let outcome = self.honest.settle(&operation, kept).await;
        if outcome.is_ok() {
            self.memory().settled.push(receipt);
        }
        match self.fault {
            Fault::TakesSecondSettlings if is_conflict(&outcome) => Ok(()),
            _ => outcome,
        }
    }

    async fn open_for(&self, operation: &OperationContext, receipt: &UsageReceipt) {
        let (end, requests) = (TurnEnd::Interrupted, Vec::new());
        let opened = UsageReceipt { end, requests, ..receipt.clone() };
        // An opening that was there before is a conflict here, which is what was wanted.
        let _ = self.honest.open(operation, opened).await;
    }
}
