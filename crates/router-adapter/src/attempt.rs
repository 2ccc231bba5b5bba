//! Decides how one attempt of a model call ends: with an answer, a failure, or given up.
//!
//! Knows nothing about other attempts. Invariant: a call that nobody wants any more is dropped at
//! once; one whose adapter does not end it in time is ended.

use std::time::Duration;

use runtime_ports::{
    DeltaSink, ModelRequest, ModelResponse, ModelSession, OperationContext, PortFailure,
    PortFailureKind, limit_requests,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::{candidate::report_of, circuit::Report, contained::contained, depth};

/// How long an adapter has, after a cancellation or its deadline, to say what became of its call.
const GRACE: Duration = Duration::from_secs(1);

tokio::task_local! {
    static WITHIN_A_ROUTER: ();
}

/// Whether the caller runs inside a model call of a router.
pub(crate) fn is_within_a_router() -> bool {
    WITHIN_A_ROUTER.try_with(|()| ()).is_ok()
}

/// What every attempt of a call has.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) operation: &'a OperationContext,
    /// Fires when nobody waits for the answer any more.
    pub(crate) given_up: &'a CancellationToken,
    /// Most requests that the adapter may make.
    pub(crate) most_requests: u32,
}

/// How an attempt ended.
pub(crate) enum Attempt {
    Answered(ModelResponse),
    Failed(PortFailure),
    /// Given up while it was in flight.
    Broken,
    /// Given up before it was sent.
    Unneeded,
}

impl Attempt {
    /// What it says about the endpoint.
    pub(crate) const fn report(&self, delta_delivered: bool) -> Report {
        match self {
            Self::Answered(_) => Report::Alive,
            Self::Failed(failure) => report_of(failure, delta_delivered),
            Self::Broken | Self::Unneeded => Report::Nothing,
        }
    }
}

impl Frame<'_> {
    /// Hands the request over once. Without a sink the answer is not streamed.
    pub(crate) async fn attempt(
        self,
        session: &dyn ModelSession,
        request: ModelRequest,
        sink: Option<&dyn DeltaSink>,
    ) -> Attempt {
        if self.given_up.is_cancelled() {
            return Attempt::Unneeded;
        }
        if let Err(interrupted) = self.operation.remaining() {
            return Attempt::Failed(interrupted);
        }
        let span = tracing::debug_span!("request", operation = %self.operation.id);
        let call = self.call(session, request, sink);
        let call = limit_requests(self.most_requests, call);
        let call = WITHIN_A_ROUTER.scope((), call).instrument(span);
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

    async fn call(
        self,
        session: &dyn ModelSession,
        request: ModelRequest,
        sink: Option<&dyn DeltaSink>,
    ) -> Result<ModelResponse, PortFailure> {
        match sink {
            None => session.invoke(self.operation, request).await,
            Some(sink) => session.invoke_streaming(self.operation, request, sink).await,
        }
    }

    /// Ends a call whose adapter does not end it.
    async fn overdue(self) -> PortFailure {
        let interruption = self.operation.interrupted().await;
        tokio::time::sleep(GRACE).await;
        interruption.in_flight()
    }
}

fn panicked() -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Internal,
        "model_session_panicked",
        "the model session panicked, which is a fault of its adapter",
    )
}
