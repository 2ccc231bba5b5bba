//! Decides how work on files runs beside async code, and what an interrupted caller may be told.
//!
//! Knows that a thread cannot be stopped, so it has to pass a gate before it changes anything.
//! Invariant: "not committed" is said only after the gate was closed, and nothing passes a closed
//! gate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use runtime_ports::{OperationContext, PortFailure, PortFailureKind};

use crate::failure::FileError;

const WAITING: u8 = 0;
const PASSED: u8 = 1;
const CLOSED: u8 = 2;

/// The caller closes the gate at its deadline. A caller that is gone does not, and a little later
/// the work gives up by itself.
const AFTER_THE_DEADLINE: Duration = Duration::from_secs(1);

/// Stands between the harmless part of a piece of work and its effect. Either the work passes it or
/// the caller closes it, whoever comes first.
#[derive(Debug)]
pub(crate) struct Gate {
    state: AtomicU8,
    until: Instant,
}

impl Gate {
    /// A gate before which work waits for `patience` at most.
    pub(crate) fn lasting(patience: Duration) -> Self {
        let now = Instant::now();
        let far = Duration::from_secs(86_400 * 365);
        Self { state: AtomicU8::new(WAITING), until: now + patience.min(far) }
    }

    /// Goes through: from here on the work changes something.
    ///
    /// # Errors
    /// [`FileError::GivenUp`] when the caller closed the gate first.
    pub(crate) fn pass(&self) -> Result<(), FileError> {
        match self.state.compare_exchange(WAITING, PASSED, SeqCst, SeqCst) {
            Ok(_) | Err(PASSED) => Ok(()),
            Err(_) => Err(FileError::GivenUp),
        }
    }

    /// Whether waiting any longer is of no use.
    pub(crate) fn is_over(&self) -> bool {
        self.state.load(SeqCst) == CLOSED || Instant::now() >= self.until
    }

    /// Closes the gate; true when nothing had passed it.
    fn close(&self) -> bool {
        self.state.compare_exchange(WAITING, CLOSED, SeqCst, SeqCst).is_ok()
    }
}

/// Runs `job` on a thread for blocking work, for as long as the operation allows. A job that only
/// reads never passes the gate.
pub(crate) async fn run<T, F>(operation: &OperationContext, job: F) -> Result<T, PortFailure>
where
    T: Send + 'static,
    F: FnOnce(&Gate) -> Result<T, FileError> + Send + 'static,
{
    let gate = Arc::new(Gate::lasting(operation.remaining()?.saturating_add(AFTER_THE_DEADLINE)));
    let jobs_gate = Arc::clone(&gate);
    let work = tokio::task::spawn_blocking(move || job(&jobs_gate));
    match operation.bounded(work).await {
        Ok(Ok(result)) => Ok(result?),
        Ok(Err(_)) => Err(ended_early(gate.close())),
        Err(interruption) if gate.close() => Err(interruption.before_sending()),
        Err(interruption) => Err(interruption.in_flight()),
    }
}

fn ended_early(nothing_passed: bool) -> PortFailure {
    let (kind, code) = (PortFailureKind::Internal, "FILE_THREAD");
    let message = "the thread that worked on the file ended early";
    if nothing_passed {
        PortFailure::not_sent(kind, code, message)
    } else {
        PortFailure::in_flight_unknown(kind, code, message)
    }
}
