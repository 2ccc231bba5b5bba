//! Decides what is kept of a started turn that did not come to its end in good order.
//!
//! Knows nothing about which loop led the turn. Invariant: a receipt that the provider settled
//! itself is never settled a second time.

use runtime_ports::{AgentTurn, PortFailure, TurnFailure, UsageReceipt};

/// Why a turn was left without its answer. The receipt is here when the provider settled it itself.
pub(crate) struct Breakage {
    pub(crate) error: anyhow::Error,
    pub(crate) receipt: Option<Box<UsageReceipt>>,
}

/// The receipt of a turn that came to its answer.
pub(crate) async fn receipt_of(turn: &mut dyn AgentTurn) -> Result<Box<UsageReceipt>, PortFailure> {
    match turn.receipt() {
        Some(settled) => Ok(Box::new(settled.clone())),
        None => turn.finish_unavailable().await.map(Box::new),
    }
}

impl From<anyhow::Error> for Breakage {
    fn from(error: anyhow::Error) -> Self {
        Self { error, receipt: None }
    }
}

impl From<PortFailure> for Breakage {
    fn from(failure: PortFailure) -> Self {
        anyhow::Error::new(failure).into()
    }
}

impl From<TurnFailure> for Breakage {
    fn from(failed: TurnFailure) -> Self {
        Self { error: failed.failure.into(), receipt: failed.receipt }
    }
}
