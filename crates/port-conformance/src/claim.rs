//! Decides how a scenario states what it expects, and how it waits for it.
//!
//! Knows nothing about any port. Invariant: no wait is unbounded.

use std::{
    fmt::Debug,
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use runtime_ports::{
    CommitDisposition::{self, Committed, NotCommitted, Unknown},
    Interruption, OperationContext, PortFailure, PortFailureKind,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::{Broken, Proof};

/// What "soon" means in a contract: an interrupted call has returned by then.
pub(crate) const SOON: Duration = Duration::from_secs(1);

/// Longest wait for something that happens by itself, such as a settled receipt.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// A time that is long enough for a request to arrive, and short enough for a test.
pub(crate) const BRIEFLY: Duration = Duration::from_millis(400);

const POLL_EVERY: Duration = Duration::from_millis(4);

/// Broken, with the words of `otherwise`, unless `holds`.
pub(crate) fn claim(holds: bool, otherwise: impl FnOnce() -> String) -> Proof {
    if holds { Ok(()) } else { Err(Broken::Claim(otherwise())) }
}

/// Broken unless both are equal.
pub(crate) fn equal<T: PartialEq + Debug + ?Sized>(what: &str, actual: &T, expected: &T) -> Proof {
    claim(actual == expected, || format!("{what} is {actual:?}, expected {expected:?}"))
}

/// The value of a call that must succeed.
pub(crate) fn success<T, E: Debug>(what: &str, result: Result<T, E>) -> Result<T, Broken> {
    result.map_err(|failure| Broken::Claim(format!("{what} failed: {failure:?}")))
}

/// The failure of a call that must fail with this kind and this disposition.
pub(crate) fn failure<T: Debug>(
    what: &str,
    result: Result<T, PortFailure>,
    kind: PortFailureKind,
    commit: CommitDisposition,
) -> Result<PortFailure, Broken> {
    let failure = refused(what, result, kind)?;
    equal(&format!("the disposition of {what}"), &failure.commit, &commit)?;
    Ok(failure)
}

/// The failure of a call that must fail with this kind.
pub(crate) fn refused<T: Debug>(
    what: &str,
    result: Result<T, PortFailure>,
    kind: PortFailureKind,
) -> Result<PortFailure, Broken> {
    let failure = failed(what, result)?;
    equal(&format!("the kind of failure of {what}"), &failure.kind, &kind)?;
    Ok(failure)
}

/// The failure of a call that must fail.
pub(crate) fn failed<T: Debug, E>(what: &str, result: Result<T, E>) -> Result<E, Broken> {
    match result {
        Ok(value) => Err(Broken::Claim(format!("{what} succeeded with {value:?}"))),
        Err(failure) => Ok(failure),
    }
}

/// The output of `work`, which must be ready within `limit`.
pub(crate) async fn within<F: Future>(
    what: &str,
    limit: Duration,
    work: F,
) -> Result<F::Output, Broken> {
    let late = |_| Broken::Claim(format!("{what} took longer than {limit:?}"));
    timeout(limit, work).await.map_err(late)
}

/// Polls `work` at most so many times, each when it is woken, and then drops it. `None` when it was
/// not ready by then.
pub(crate) async fn polled<F: Future>(times: usize, work: F) -> Option<F::Output> {
    let mut work = pin!(work);
    let mut left = times;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match work.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Broken when the outcome of a write contradicts what became of it.
pub(crate) fn truthful<T>(outcome: &Result<T, PortFailure>, is_kept: bool) -> Proof {
    let said = outcome.as_ref().map_or_else(|failure| failure.commit, |_| Committed);
    let is_true = match said {
        Committed => is_kept,
        NotCommitted => !is_kept,
        Unknown => true,
    };
    claim(is_true, || format!("a write said {said:?}, and kept is {is_kept}"))
}

/// Waits until `holds`, at most [`PATIENCE`].
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) -> Proof {
    let give_up = Instant::now() + PATIENCE;
    while !holds() {
        if Instant::now() >= give_up {
            return Err(Broken::Claim(format!("{what} did not happen within {PATIENCE:?}")));
        }
        sleep(POLL_EVERY).await;
    }
    Ok(())
}

/// An operation with a minute to go.
pub(crate) fn operation() -> OperationContext {
    operation_within(Duration::from_secs(60))
}

/// Cancels `operation` after `moment`, while `work` goes on.
pub(crate) async fn cancelled_after<F: Future>(
    operation: &OperationContext,
    moment: Duration,
    work: F,
) -> F::Output {
    let cancel = async {
        sleep(moment).await;
        operation.cancellation.cancel();
    };
    tokio::join!(work, cancel).0
}

/// An operation that ends after `limit`.
pub(crate) fn operation_within(limit: Duration) -> OperationContext {
    let (id, execution) = (Uuid::new_v4(), Uuid::new_v4());
    OperationContext::root(OperationId::from(id), ExecutionId::from(execution), limit)
}

/// An operation that was interrupted before it began.
pub(crate) fn interrupted_operation(interruption: Interruption) -> OperationContext {
    match interruption {
        Interruption::Canceled => {
            let operation = operation();
            operation.cancellation.cancel();
            operation
        }
        Interruption::DeadlineExceeded => operation_within(Duration::ZERO),
    }
}
