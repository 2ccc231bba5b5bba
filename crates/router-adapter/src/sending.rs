//! Decides what becomes of one model call: its attempts, its accounting, and how it is given up.
//!
//! Knows nothing about threads, tools or hosts. Invariant: every attempt that may have reached the
//! provider is noted before anything else happens, and a call that nobody wants any more is dropped
//! at once.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use runtime_ports::{
    CommitDisposition, DeltaSink, ModelDelta, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::{
    account::Account,
    contained::contained,
    depth,
    retry::{Circumstances, Retries, Verdict},
};

/// How long an adapter has, after a cancellation or its deadline, to say what became of its call.
const GRACE: Duration = Duration::from_secs(1);

tokio::task_local! {
    static WITHIN_A_ROUTER: ();
}

/// Whether the caller runs inside a model call of a router.
pub(crate) fn is_within_a_router() -> bool {
    WITHIN_A_ROUTER.try_with(|()| ()).is_ok()
}

/// One model call.
pub(crate) struct Sending<'a> {
    pub(crate) session: &'a dyn ModelSession,
    pub(crate) request: ModelRequest,
    pub(crate) operation: &'a OperationContext,
    /// Fires when nobody waits for the answer any more.
    pub(crate) given_up: &'a CancellationToken,
    /// Who watches; nobody when the call is not streamed.
    pub(crate) sink: Option<&'a dyn DeltaSink>,
}

/// What became of a call, and how long the provider was waited for.
pub(crate) struct Sent {
    pub(crate) outcome: Result<ModelResponse, Unanswered>,
    pub(crate) waited: Duration,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    GivenUp,
    Failed(PortFailure),
}

impl Sending<'_> {
    /// Sends the request, again where the retry policy says so, and notes every attempt. It fails
    /// with the failure that the policy gives up on, or with that of a note.
    pub(crate) async fn send(&self, account: &mut Account) -> Sent {
        let (mut retries, mut waited) = (Retries::default(), Duration::ZERO);
        loop {
            let began = Instant::now();
            let delivered = AtomicBool::new(false);
            let attempt = self.attempt(&delivered).await;
            waited += began.elapsed();
            let failure = match self.noted(attempt, account).await {
                ControlFlow::Continue(failure) => failure,
                ControlFlow::Break(outcome) => return Sent { outcome, waited },
            };
            let at = self.circumstances(delivered.into_inner());
            let Verdict::SendAgain { wait } = retries.judge(&failure, &at) else {
                return Sent { outcome: Err(Unanswered::Failed(failure)), waited };
            };
            state_repeat(&failure, account);
            let began = Instant::now();
            let paused = self.pause(wait).await;
            waited += began.elapsed();
            if let Err(unanswered) = paused {
                return Sent { outcome: Err(unanswered), waited };
            }
        }
    }

    /// Notes an attempt. Goes on with its failure, about which the policy has to decide, or breaks
    /// off with the outcome of the call.
    async fn noted(
        &self,
        attempt: Attempt,
        account: &mut Account,
    ) -> ControlFlow<Result<ModelResponse, Unanswered>, PortFailure> {
        let (noted, outcome) = match attempt {
            Attempt::Answered(response) => (account.answered(&response).await, Ok(response)),
            Attempt::Broken => (account.abandoned().await, Err(Unanswered::GivenUp)),
            Attempt::Unneeded => (Ok(()), Err(Unanswered::GivenUp)),
            Attempt::Failed(failure) => match account.failed(&failure).await {
                Ok(()) => return ControlFlow::Continue(failure),
                Err(lost) => (Err(lost), Err(Unanswered::Failed(failure))),
            },
        };
        ControlFlow::Break(noted.map_err(Unanswered::Failed).and(outcome))
    }

    async fn attempt(&self, delivered: &AtomicBool) -> Attempt {
        if self.given_up.is_cancelled() {
            return Attempt::Unneeded;
        }
        if let Err(interrupted) = self.operation.remaining() {
            return Attempt::Failed(interrupted);
        }
        let span = tracing::debug_span!("request", operation = %self.operation.id);
        let call = WITHIN_A_ROUTER.scope((), self.call(delivered)).instrument(span);
        tokio::select! {
            biased;
            () = self.given_up.cancelled() => Attempt::Broken,
            outcome = contained(call) => match outcome {
                Ok(Ok(response)) => Attempt::Answered(depth::bounded(response)),
                Ok(Err(failure)) => Attempt::Failed(failure),
                Err(_) => Attempt::Failed(panicked()),
            },
            failure = self.overdue() => Attempt::Failed(failure),
        }
    }

    async fn call(&self, delivered: &AtomicBool) -> Result<ModelResponse, PortFailure> {
        let request = self.request.clone();
        match self.sink {
            None => self.session.invoke(self.operation, request).await,
            Some(sink) => {
                let sink = Watched { sink, delivered };
                self.session.invoke_streaming(self.operation, request, &sink).await
            }
        }
    }

    /// Ends a call whose adapter does not end it.
    async fn overdue(&self) -> PortFailure {
        let interruption = self.operation.interrupted().await;
        tokio::time::sleep(GRACE).await;
        interruption.in_flight()
    }

    fn circumstances(&self, delta_delivered: bool) -> Circumstances {
        // Without time left the wait, however short, passes the deadline.
        let left = self.operation.remaining().unwrap_or(Duration::ZERO);
        Circumstances { delta_delivered, left, jitter: random_fraction() }
    }

    async fn pause(&self, wait: Duration) -> Result<(), Unanswered> {
        let until = Instant::now() + wait;
        tokio::select! {
            biased;
            () = self.given_up.cancelled() => Err(Unanswered::GivenUp),
            interruption = self.operation.interrupted() => {
                Err(Unanswered::Failed(interruption.before_sending()))
            }
            () = tokio::time::sleep_until(until) => Ok(()),
        }
    }
}

/// A call whose outcome is unknown is not repeated silently.
fn state_repeat(failure: &PortFailure, account: &mut Account) {
    if failure.commit == CommitDisposition::Unknown {
        let last = account.requests_made().saturating_sub(1);
        tracing::info!(request = last, code = failure.code, "sent again after an unknown outcome");
        account.lose(format!(
            "request {last} got no conclusive answer and was sent once more; \
             it may have been billed"
        ));
    }
}

enum Attempt {
    Answered(ModelResponse),
    Failed(PortFailure),
    /// Given up while it was in flight.
    Broken,
    /// Given up before it was sent.
    Unneeded,
}

/// Passes deltas on, and notes that there was one.
struct Watched<'a> {
    sink: &'a dyn DeltaSink,
    delivered: &'a AtomicBool,
}

impl DeltaSink for Watched<'_> {
    fn delta(&self, delta: ModelDelta<'_>) {
        self.delivered.store(true, Ordering::Relaxed);
        self.sink.delta(delta);
    }
}

fn panicked() -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Internal,
        "model_session_panicked",
        "the model session panicked, which is a fault of its adapter",
    )
}

/// Enough for jitter, which needs no quality.
fn random_fraction() -> f64 {
    // Version and variant stand in the middle; the last four bytes are random throughout.
    let [.., a, b, c, d] = Uuid::new_v4().into_bytes();
    f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
}
