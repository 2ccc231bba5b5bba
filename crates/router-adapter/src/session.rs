//! Decides how a single model call is billed when no turn surrounds it.
//!
//! Knows nothing about what the caller does with the answer. Invariant: each call that could be
//! recorded leaves one receipt, written by an owner that outlives a dropped call.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::{
    DeltaSink, Interruption, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind, TurnEnd,
};
use runtime_types::OperationId;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::{
    Router,
    account::{Account, Billing},
    attempt::is_within_a_router,
    delta::{DeltaPost, OwnedDelta},
    mailbox::{Mailbox, Poster},
    projection::Projections,
    route::Route,
    sending::{Rules, Sending, Unanswered},
    tree::Registration,
};

/// A [`ModelSession`] over a router, for one user: it resolves models, bills each call, repeats
/// what may be repeated, and is reached by [`Intelligence::cancel`](runtime_ports::Intelligence)
/// of its parent.
pub(crate) struct AccountedSession {
    router: Router,
    user_id: String,
    parent: Option<Uuid>,
}

/// One call on its way: what its owner task needs.
struct Call {
    route: Route,
    rules: Rules,
    projections: Arc<Projections>,
    request: ModelRequest,
    operation: OperationContext,
    account: Account,
    registration: Registration,
    given_up: CancellationToken,
    deltas: Option<Poster<OwnedDelta>>,
}

type Answer = Result<ModelResponse, PortFailure>;

impl AccountedSession {
    pub(crate) fn new(router: Router, user_id: String, parent: Option<Uuid>) -> Self {
        Self { router, user_id, parent }
    }

    async fn call(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: Option<&dyn DeltaSink>,
    ) -> Answer {
        let deltas = sink.map(|_| Arc::new(Mailbox::new()));
        let call = self.prepare(operation, request, deltas.clone()).await?;
        let _given_up_when_dropped = call.given_up.clone().drop_guard();
        let (reply, answer) = oneshot::channel();
        let id = call.registration.id();
        let span = tracing::debug_span!("model_call", operation = %id);
        self.router.owners().spawn(own(call, reply).instrument(span));
        if let (Some(sink), Some(deltas)) = (sink, deltas) {
            while let Some(delta) = deltas.next().await {
                sink.delta(delta.as_delta());
            }
        }
        answer.await.unwrap_or_else(|_| Err(owner_lost()))
    }

    async fn prepare(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        deltas: Option<Arc<Mailbox<OwnedDelta>>>,
    ) -> Result<Call, PortFailure> {
        operation.remaining()?;
        if is_within_a_router() {
            return Err(nested());
        }
        let route = operation.bounded(self.route(&request.model)).await;
        let route = route.map_err(Interruption::before_sending).flatten()?;
        let id = Uuid::new_v4();
        let token = operation.cancellation.child_token();
        let registration = self.router.tree().register(id, self.parent, token)?;
        let account = self.router.account(&route, self.billing(id));
        let operation = OperationContext {
            cancellation: registration.token().clone(),
            ..operation.child(OperationId::from(id))
        };
        let given_up = CancellationToken::new();
        let deltas = deltas.map(Poster::new);
        let (rules, projections) =
            (self.router.rules().clone(), Arc::clone(self.router.projections()));
        Ok(Call {
            route,
            rules,
            projections,
            request,
            operation,
            account,
            registration,
            given_up,
            deltas,
        })
    }

    async fn route(&self, model: &str) -> Result<Route, PortFailure> {
        self.router.recover().await?;
        self.router.route(model).await
    }

    fn billing(&self, operation_id: Uuid) -> Billing {
        Billing {
            operation_id,
            parent_operation_id: self.parent,
            user_id: self.user_id.clone(),
            thread_id: None,
        }
    }
}

/// Performs a call and accounts for it, whether or not anybody still waits.
async fn own(call: Call, reply: oneshot::Sender<Answer>) {
    let answer = match call.operation.bounded(call.account.open()).await {
        Ok(Ok(())) => call.perform().await,
        Ok(Err(refusal)) => Err(refusal),
        Err(interruption) => {
            let failure = interruption.before_sending();
            // The caller need not wait for a slow store, since nothing will be sent.
            let _ = reply.send(Err(failure.clone()));
            return call.withdraw(&failure).await;
        }
    };
    // Nobody may be left to hear it.
    let _ = reply.send(answer);
}

impl Call {
    async fn perform(mut self) -> Answer {
        let outcome = self.send().await;
        let cancelled = self.registration.conclude();
        let (end, answer) = match outcome {
            Ok(response) => (TurnEnd::Completed, Ok(self.account.listing(response))),
            Err(Unanswered::GivenUp) => (TurnEnd::Interrupted, Err(given_up())),
            Err(Unanswered::Failed(failure)) => {
                let end =
                    if cancelled { TurnEnd::Cancelled } else { TurnEnd::of_failure(failure.kind) };
                (end, Err(failure))
            }
        };
        let answer = answer.map_err(|failure| self.account.blame(failure));
        let settlement = self.account.settle(end).await;
        settlement.charged(answer)
    }

    /// Settles a call whose opening was broken off, so that nobody knows whether it is recorded.
    async fn withdraw(self, failure: &PortFailure) {
        if self.account.open().await.is_ok() {
            self.registration.conclude();
            // Where it cannot be stored now, the next start settles it.
            self.account.settle(TurnEnd::of_failure(failure.kind)).await;
        }
    }

    async fn send(&mut self) -> Result<ModelResponse, Unanswered> {
        let sink = self.deltas.as_deref().map(DeltaPost);
        let sending = Sending {
            route: &self.route,
            rules: &self.rules,
            projections: &self.projections,
            id: self.registration.id(),
            request: self.request.clone(),
            operation: &self.operation,
            given_up: &self.given_up,
            sink: sink.as_ref().map(|sink| -> &dyn DeltaSink { sink }),
        };
        sending.send(&mut self.account).await.outcome
    }
}

#[async_trait]
impl ModelSession for AccountedSession {
    async fn invoke(&self, operation: &OperationContext, request: ModelRequest) -> Answer {
        self.call(operation, request, None).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Answer {
        self.call(operation, request, Some(sink)).await
    }

    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        operation.remaining()?;
        let route = operation.bounded(self.router.route(model)).await;
        // A profile is a question without an effect.
        let route = route.map_err(Interruption::before_sending).flatten()?;
        let profile = route.primary().profile.clone();
        Ok(ModelProfile { price: route.dearest_price(), ..profile })
    }
}

fn nested() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::Invalid,
        "router_within_a_router",
        "a router's session serves another router, which would bill twice; give it the raw adapter",
    )
}

fn given_up() -> PortFailure {
    Interruption::Canceled.in_flight()
}

fn owner_lost() -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Internal,
        "call_owner_lost",
        "the task that owned the call is gone; its receipt is settled at the next start",
    )
}
