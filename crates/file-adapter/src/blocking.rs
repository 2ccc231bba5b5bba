//! Decides how work on files runs beside async code.
//!
//! Knows that a thread cannot be stopped: work that was interrupted goes on, so what it does is
//! then unknown.

use runtime_ports::{Interruption, OperationContext, PortFailure, PortFailureKind};

/// Whether interrupted work may have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Reads,
    Writes,
}

/// Runs `job` on a thread for blocking work, for as long as the operation allows.
pub(crate) async fn run<T, F>(
    operation: &OperationContext,
    work: Work,
    job: F,
) -> Result<T, PortFailure>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, PortFailure> + Send + 'static,
{
    operation.remaining()?;
    match operation.bounded(tokio::task::spawn_blocking(job)).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => {
            let message = "the thread that worked on the file ended early";
            Err(PortFailure::in_flight_unknown(PortFailureKind::Internal, "FILE_THREAD", message))
        }
        Err(interruption) => Err(interrupted(interruption, work)),
    }
}

fn interrupted(interruption: Interruption, work: Work) -> PortFailure {
    match work {
        Work::Reads => interruption.before_sending(),
        Work::Writes => interruption.in_flight(),
    }
}
