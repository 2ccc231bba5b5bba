//! Decides how hard the router tries to make a record durable.
//!
//! Knows nothing about what the records mean. Invariant: a write is repeated only with the same
//! value, which the store takes as done when the first one took effect; what failed for good is
//! returned, never swallowed. Writes have a frame of their own: a cancelled turn is accounted too.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    Interruption, OperationContext, PortFailure, PortFailureKind, ReceiptStore, RequestMeter,
    UsageReceipt,
};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

use crate::contained::contained;

const PATIENCE: Duration = Duration::from_secs(10);
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// Where receipts go; nowhere without a store. Clones write to the same place.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Option<Arc<dyn ReceiptStore>>);

/// One record of a turn.
pub(crate) enum Entry<'a> {
    Opened(&'a UsageReceipt),
    Requested { turn: Uuid, ordinal: u32, meter: &'a RequestMeter },
    Settled(&'a UsageReceipt),
}

impl Ledger {
    pub(crate) fn of(store: Arc<dyn ReceiptStore>) -> Self {
        Self(Some(store))
    }

    /// Writes `entry`, up to three times.
    ///
    /// # Errors
    /// The last failure of the store.
    pub(crate) async fn write(&self, entry: Entry<'_>) -> Result<(), PortFailure> {
        let Some(store) = &self.0 else { return Ok(()) };
        for pause in PAUSES {
            match attempt(store.as_ref(), &entry).await {
                Err(failure) if is_worth_repeating(&failure) => tokio::time::sleep(pause).await,
                conclusive => return conclusive,
            }
        }
        attempt(store.as_ref(), &entry).await
    }

    /// The open turns of dead owners.
    pub(crate) async fn unsettled(&self) -> Result<Vec<UsageReceipt>, PortFailure> {
        let Some(store) = &self.0 else { return Ok(Vec::new()) };
        let operation = frame(Uuid::new_v4());
        // Reading changes nothing, so an interrupted read was never committed.
        let read = contained(async { store.unsettled(&operation).await });
        let read = operation.bounded(read).await.map_err(Interruption::before_sending)?;
        read.unwrap_or_else(|_| Err(panicked()))
    }
}

async fn attempt(store: &dyn ReceiptStore, entry: &Entry<'_>) -> Result<(), PortFailure> {
    let operation = frame(entry.turn());
    let write = async {
        match entry {
            Entry::Opened(receipt) => store.open(&operation, (*receipt).clone()).await,
            Entry::Requested { turn, ordinal, meter } => {
                store.note_request(&operation, *turn, *ordinal, (*meter).clone()).await
            }
            Entry::Settled(receipt) => store.settle(&operation, (*receipt).clone()).await,
        }
    };
    let written = operation.bounded(contained(write)).await.map_err(Interruption::in_flight)?;
    written.unwrap_or_else(|_| Err(panicked()))
}

fn frame(turn: Uuid) -> OperationContext {
    OperationContext::root(OperationId::from(turn), ExecutionId::from(turn), PATIENCE)
}

fn panicked() -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Internal,
        "receipt_store_panicked",
        "the receipt store panicked, which is a fault of its adapter",
    )
}

const fn is_worth_repeating(failure: &PortFailure) -> bool {
    !matches!(
        failure.kind,
        PortFailureKind::Conflict
            | PortFailureKind::NotFound
            | PortFailureKind::Invalid
            | PortFailureKind::Forbidden
    )
}

impl Entry<'_> {
    const fn turn(&self) -> Uuid {
        match self {
            Self::Opened(receipt) | Self::Settled(receipt) => receipt.operation_id,
            Self::Requested { turn, .. } => *turn,
        }
    }
}
