//! Decides how blocking work lives within an operation.
//!
//! Knows nothing about the work. Invariant: of the worker that wants to commit and the caller that
//! gives up exactly one wins, so that the caller's disposition is true.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use runtime_ports::{OperationContext, PortFailure, PortFailureKind};
use tokio::task::{JoinError, JoinHandle};

use crate::failure;

/// How long a caller that was interrupted waits for a commit that is under way.
const COMMIT_GRACE: Duration = Duration::from_millis(200);

const OPEN: u8 = 0;
const PASSED: u8 = 1;
const CLOSED: u8 = 2;

/// The point between preparing an effect and having it.
#[derive(Debug, Default)]
pub(crate) struct Gate(AtomicU8);

impl Gate {
    /// The worker is about to have its effect. `false`: the caller is gone, leave it.
    pub(crate) fn pass(&self) -> bool {
        self.0.compare_exchange(OPEN, PASSED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the caller is gone and nothing was committed.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) == CLOSED
    }

    /// The caller gives up. `true`: the effect will certainly not take place.
    fn close(&self) -> bool {
        let closed = self.0.compare_exchange(OPEN, CLOSED, Ordering::AcqRel, Ordering::Acquire);
        !matches!(closed, Err(PASSED))
    }
}

/// Runs blocking work until it is done or the operation is interrupted. Work that changes nothing
/// never passes the gate; it looks at it to end early.
///
/// # Cancellation
/// Dropped or interrupted before the gate was passed: nothing happens any more. After it: the work
/// runs to its end.
pub(crate) async fn blocking<T, W>(operation: &OperationContext, work: W) -> Result<T, PortFailure>
where
    T: Send + 'static,
    W: FnOnce(&Gate) -> Result<T, PortFailure> + Send + 'static,
{
    operation.remaining()?;
    let caller = Caller(Arc::new(Gate::default()));
    let gate = Arc::clone(&caller.0);
    let mut task = tokio::task::spawn_blocking(move || work(&gate));
    match operation.bounded(&mut task).await {
        Ok(ended) => settled(ended, &caller.0),
        Err(interruption) if caller.0.close() => Err(interruption.before_sending()),
        Err(interruption) => {
            let late = commit_under_way(&mut task).await;
            late.map_or_else(|| Err(interruption.in_flight()), |ended| settled(ended, &caller.0))
        }
    }
}

/// Closes the gate when the caller's future is dropped.
struct Caller(Arc<Gate>);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.close();
    }
}

type Ended<T> = Result<Result<T, PortFailure>, JoinError>;

async fn commit_under_way<T>(task: &mut JoinHandle<Result<T, PortFailure>>) -> Option<Ended<T>> {
    tokio::time::timeout(COMMIT_GRACE, task).await.ok()
}

fn settled<T>(ended: Ended<T>, gate: &Gate) -> Result<T, PortFailure> {
    const MESSAGE: &str = "work on the folder broke off; report this as a fault";
    match ended {
        Ok(result) => result,
        Err(_) if gate.close() => Err(failure::internal("WORKSPACE_FAULT", MESSAGE)),
        Err(_) => Err(PortFailure::in_flight_unknown(
            PortFailureKind::Internal,
            "WORKSPACE_FAULT",
            MESSAGE,
        )),
    }
}

#[cfg(test)]
mod tests;
