//! Decides what a router is made of, and what it checks before a turn starts.
//!
//! Knows no provider. Invariant: a start that is refused has sent nothing, opened no receipt and
//! left no operation in the tree; open turns of dead owners are settled before the first turn.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    AgentProvider, AgentTurn, AgentTurnRequest, Intelligence, ModelSession, PortFailure,
    PortFailureKind, ReceiptStore, ResolvedAgentModel, TurnFailure, TurnStart,
};
use tokio::sync::{OnceCell, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument as _;
use uuid::Uuid;

use crate::{
    CallObserver, RouterBuilder,
    account::{self, Account, Billing},
    ledger::Ledger,
    policy::RetryPolicy,
    projection::Projections,
    route::{Provider, Route, Routes, Single},
    sending::Rules,
    session::AccountedSession,
    thread::Threads,
    tree::OperationTree,
    turn::{self, RouterTurn, TurnPlan},
};

const RECOVERY_PATIENCE: Duration = Duration::from_secs(60);

/// [`Intelligence`] over model sessions. Clones share everything.
///
/// Each turn is owned by a task of its own, which makes the requests and writes the receipt, and
/// which outlives a dropped [`AgentTurn`]. Before the process ends, wait for [`Self::settled`].
///
/// # Contract
/// - The sessions are raw adapters, never a router's own session: a model call that finds itself
///   inside another router's is refused as `Invalid`, since it would be billed twice.
/// - Starting turns needs a tokio runtime with time; a turn whose runtime is shut down under it is
///   settled at the next start.
/// - An operation id runs once: started again it is `Conflict`, as long as it is remembered (10,000
///   ids) or has a receipt.
/// - A panic of a session or of the receipt store ends the call that it happened in, as a failure.
/// - A call that fails is sent again, or to a fallback of its model, by a [`RetryPolicy`]; each
///   call begins at the model that it names. What is known of the endpoints of providers is shared
///   by all calls, sessions and clones.
/// - Answers are made safe to keep: JSON that is nested deeper than 100 levels becomes text, a
///   duration that is no number of seconds becomes unknown, and names of requests are cut.
/// - Threads live in memory: the 1,000 that were used last. A continuation of one that is gone is
///   `NotFound`.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use in_memory_fakes::{FakeModel, ModelStep};
/// use router_adapter::Router;
/// use runtime_ports::Intelligence as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), runtime_ports::PortFailure> {
/// let session = FakeModel::new([]);
/// let router = Router::single(Arc::new(session), FakeModel::MODEL);
/// assert_eq!(router.resolve_agent_model("fake-model").await?.provider_model, "fake-model");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Router {
    routes: Arc<Routes>,
    tree: OperationTree,
    threads: Threads,
    ledger: Ledger,
    recovered: Arc<OnceCell<()>>,
    instructions: Option<Arc<str>>,
    rules: Rules,
    projections: Arc<Projections>,
    owners: TaskTracker,
}

impl Router {
    /// A router over one session with one model. The model's profile is asked from the session,
    /// once; nothing is kept of receipts unless [`Self::with_receipts`] follows.
    pub fn single(session: Arc<dyn ModelSession>, model: impl Into<String>) -> Self {
        let model: Arc<str> = model.into().into();
        let provider = AgentProvider::new("single");
        let profile = OnceCell::new();
        let behind = Provider::new(session);
        Self::over(Routes::Single(Single { provider, model, profile, behind }))
    }

    /// Begins a router over a catalogue and any number of sessions.
    #[must_use]
    pub fn builder() -> RouterBuilder {
        RouterBuilder::default()
    }

    pub(crate) fn over(routes: Routes) -> Self {
        let owners = TaskTracker::new();
        // A closed tracker still takes tasks; being closed lets a wait for them end.
        owners.close();
        Self {
            routes: Arc::new(routes),
            tree: OperationTree::default(),
            threads: Threads::default(),
            ledger: Ledger::default(),
            recovered: Arc::default(),
            instructions: None,
            rules: Rules::default(),
            projections: Arc::default(),
            owners,
        }
    }

    /// The same router, writing its receipts to `store`. The open turns of dead owners in it are
    /// settled before the first turn starts.
    #[must_use]
    pub fn with_receipts(self, store: Arc<dyn ReceiptStore>) -> Self {
        Self { ledger: Ledger::of(store), recovered: Arc::default(), ..self }
    }

    /// The same router, beginning every fresh thread with these instructions.
    #[must_use]
    pub fn with_instructions(self, instructions: impl Into<String>) -> Self {
        Self { instructions: Some(instructions.into().into()), ..self }
    }

    /// The same router, sending again and moving calls by this policy. What is known of endpoints
    /// is shared with the router that it comes from.
    #[must_use]
    pub fn with_policy(self, policy: RetryPolicy) -> Self {
        Self { rules: Rules { policy, ..self.rules }, ..self }
    }

    /// The same router, telling `observer` of calls that are sent again or go elsewhere.
    #[must_use]
    pub fn observed_by(self, observer: impl CallObserver + 'static) -> Self {
        self.with_observer(Some(Arc::new(observer)))
    }

    pub(crate) fn with_observer(self, observer: Option<Arc<dyn CallObserver>>) -> Self {
        Self { rules: Rules { observer, ..self.rules }, ..self }
    }

    /// A model session that bills `user_id`, one receipt for each call, and that
    /// [`Intelligence::cancel`] of `parent` reaches. Models are named as for
    /// [`Intelligence::resolve_agent_model`].
    pub fn session(
        &self,
        user_id: impl Into<String>,
        parent: Option<Uuid>,
    ) -> Arc<dyn ModelSession> {
        Arc::new(AccountedSession::new(self.clone(), user_id.into(), parent))
    }

    /// Waits until every turn and call that was started has its receipt written: for a clean exit.
    /// It waits also for turns whose handle is alive, so drop or end them first. Cancel-safe.
    pub async fn settled(&self) {
        self.owners.wait().await;
    }

    /// Settles the open turns of dead owners, once. Who waits for another to do it gives up after
    /// a while, so that a store that hangs holds nobody up for as many times as there are starts.
    pub(crate) async fn recover(&self) -> Result<(), PortFailure> {
        let settle = || account::settle_abandoned(&self.ledger);
        let recovered = self.recovered.get_or_try_init(settle);
        tokio::time::timeout(RECOVERY_PATIENCE, recovered)
            .await
            .map_err(|_| recovery_takes_long())??;
        Ok(())
    }

    pub(crate) async fn route(&self, requested: &str) -> Result<Route, PortFailure> {
        self.routes.find(requested).await
    }

    pub(crate) fn account(&self, route: &Route, billing: Billing) -> Account {
        Account::new(self.ledger.clone(), route, billing)
    }

    pub(crate) const fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) const fn projections(&self) -> &Arc<Projections> {
        &self.projections
    }

    pub(crate) const fn tree(&self) -> &OperationTree {
        &self.tree
    }

    pub(crate) const fn owners(&self) -> &TaskTracker {
        &self.owners
    }

    async fn begin(&self, start: TurnStart) -> Result<RouterTurn, PortFailure> {
        check(&start.request)?;
        self.recover().await?;
        let route = self.route(&start.request.model).await?;
        let (id, parent) = (start.operation_id, start.parent_operation_id);
        let registration = self.tree.register(id, parent, CancellationToken::new())?;
        let thread = self.threads.open(&start, &route)?;
        let account = self.account(&route, billing(&start, thread.id()));
        let instructions = self.instructions.clone();
        let rules = self.rules.clone();
        let projections = Arc::clone(&self.projections);
        let plan = TurnPlan {
            start,
            route,
            rules,
            projections,
            thread,
            instructions,
            account,
            registration,
        };
        let (owner, turn) = turn::split(plan);
        let (opened, news) = oneshot::channel();
        let span = tracing::info_span!("turn", operation = %id);
        self.owners.spawn(owner.run(opened).instrument(span));
        news.await.unwrap_or_else(|_| Err(turn::owner_lost()))?;
        Ok(turn)
    }
}

#[async_trait]
impl Intelligence for Router {
    async fn resolve_agent_model(
        &self,
        requested: &str,
    ) -> Result<ResolvedAgentModel, PortFailure> {
        self.route(requested).await.map(|route| route.resolved())
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        let turn = self.begin(start).await.map_err(TurnFailure::refused)?;
        Ok(Box::new(turn))
    }

    async fn cancel(&self, operation_id: Uuid) -> Result<bool, PortFailure> {
        Ok(self.tree.cancel(operation_id))
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Router").finish_non_exhaustive()
    }
}

fn check(request: &AgentTurnRequest) -> Result<(), PortFailure> {
    if request.max_requests > 0 {
        return Ok(());
    }
    let message = "max_requests is 0, so that the turn could send nothing; give at least 1";
    Err(PortFailure::not_sent(PortFailureKind::Invalid, "no_requests_permitted", message))
}

fn billing(start: &TurnStart, thread_id: Option<&str>) -> Billing {
    Billing {
        operation_id: start.operation_id,
        parent_operation_id: start.parent_operation_id,
        user_id: start.user_id.clone(),
        thread_id: thread_id.map(str::to_owned),
    }
}

fn recovery_takes_long() -> PortFailure {
    let message = "the open turns of an earlier process are still being settled; start again later";
    PortFailure::not_sent(PortFailureKind::Unavailable, "receipts_not_recovered", message)
        .retryable()
}

#[cfg(test)]
mod tests;
