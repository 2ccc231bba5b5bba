//! Decides how an [`ExecutionSessionFactory`] is made of parts that are there already.
//!
//! Knows leases and inputs; refuses to know what the parts are. Invariant: nobody gets ports without
//! a living lease for exactly that execution, and an input counts once.

mod inbox;
mod inputs;
mod leases;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use runtime_ports::{
    ExecutionDelegationLease, ExecutionSessionFactory, ExecutionSessions, InteractionResponse,
    OperationContext, PortFailure, PortFailureKind, SessionScope,
};
use runtime_types::{CallerScope, ExecutionId, OperationId, RequestAuthority};

pub use self::inbox::{AnswerSink, Inbox};
use self::{
    inputs::{Input, Inputs},
    leases::Leases,
};
use crate::engine::{Clock, SystemClock};

/// How long a lease lives without a word to the contrary.
const TTL: Duration = Duration::from_hours(1);

/// From how many on leases and executions that are over are forgotten.
const KEPT: usize = 10_000;

/// Makes the parts of one execution.
type Parts =
    dyn Fn(&CallerScope, &SessionScope) -> Result<ExecutionSessions, PortFailure> + Send + Sync;

/// An [`ExecutionSessionFactory`] over injected parts, for one process: it issues the leases itself,
/// and brings inputs to whoever takes answers.
///
/// Leases, and which execution is whose, live as long as the factory; an execution is known from
/// its first `create` on. The last 10,000 inputs are remembered, so that each counts once. When
/// there are 10,000 leases or executions, those that have ended are forgotten.
///
/// # Examples
/// Questions wait in an [`Inbox`]; whoever serves the factory brings the answers.
/// ```
/// # use std::{collections::BTreeMap, sync::Arc, time::Duration};
/// use runtime_kernel::{Inbox, PartsFactory};
/// use runtime_ports::*;
/// # use runtime_types::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parts = in_memory_fakes::FakeSessions::default().ports();
/// # let ada = CallerScope {
/// #     subject: "ada".parse()?,
/// #     tenant_id: None,
/// #     project_id: None,
/// #     capabilities: Default::default(),
/// # };
/// # let authority =
/// #     RequestAuthority { caller: ada.clone(), credential: CredentialHandle::new("secret") };
/// # let resolved = ResolvedExecutionContext {
/// #     runtime_instance_id: "instance".parse()?,
/// #     agent_id: "agent".into(),
/// #     runtime_type: "engine".into(),
/// #     model: "model".into(),
/// #     workspace_id: "workspace".parse()?,
/// #     package_id: "package".into(),
/// #     package_version: "1".into(),
/// #     package_digest: None,
/// #     metadata: BTreeMap::new(),
/// # };
/// # let scope =
/// #     SessionScope { execution_id: "run".parse()?, conversation_id: None, resolved };
/// # let operation =
/// #     OperationContext::root("call".parse()?, "run".parse()?, Duration::from_secs(60));
/// let inbox = Inbox::new();
/// let parts = ExecutionSessions { interaction: Arc::new(inbox.clone()), ..parts };
/// let factory = PartsFactory::new(move |_, _| Ok(parts.clone()), Arc::new(inbox));
///
/// let lease = factory.establish_delegation(&operation, &authority, &scope).await?;
/// let ports = factory.create(&operation, &ada, &lease, &scope).await?;
/// ports.interaction.prepare(&operation, InteractionRequest::question("q", "Which?")).await?;
/// let answer = InteractionResponse::text("this one");
/// let (run, input) = ("run".parse()?, "input".parse()?);
/// factory.submit_input(&operation, &ada, &run, &input, "q", answer.clone()).await?;
/// assert_eq!(ports.interaction.wait(&operation, "q").await?, answer);
/// factory.revoke_delegation(&operation, &ada, &lease).await?;
/// # Ok(())
/// # }
/// ```
pub struct PartsFactory {
    parts: Box<Parts>,
    answers: Arc<dyn AnswerSink>,
    leases: Mutex<Leases>,
    executions: Mutex<HashMap<ExecutionId, CallerScope>>,
    inputs: Inputs,
}

impl PartsFactory {
    /// A factory that makes ports with `parts`, and brings inputs to `answers`. Where questions wait
    /// in the parts' own interaction, that is who takes the answers.
    pub fn new(
        parts: impl Fn(&CallerScope, &SessionScope) -> Result<ExecutionSessions, PortFailure>
        + Send
        + Sync
        + 'static,
        answers: Arc<dyn AnswerSink>,
    ) -> Self {
        Self {
            parts: Box::new(parts),
            answers,
            leases: Mutex::new(Leases::new(TTL, Box::new(SystemClock))),
            executions: Mutex::default(),
            inputs: Inputs::default(),
        }
    }

    /// The same factory, whose leases live so long from when they are established or renewed; an
    /// hour without it.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.leases().live_for(ttl);
        self
    }

    /// The same factory, which takes the time in what it says of leases from this clock. When one
    /// ends follows tokio's.
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        self.leases().read(Box::new(clock));
        self
    }

    /// Nothing panics while it is held, so that a poisoned lock holds whole leases.
    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn executions(&self) -> MutexGuard<'_, HashMap<ExecutionId, CallerScope>> {
        self.executions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the execution is this caller's.
    fn check_owner(
        &self,
        caller: &CallerScope,
        execution: &ExecutionId,
    ) -> Result<(), PortFailure> {
        match self.executions().get(execution) {
            Some(owner) if is_same(owner, caller) => Ok(()),
            _ => {
                let message = "no such execution; check its id";
                let kind = PortFailureKind::NotFound;
                Err(PortFailure::rejected(kind, "execution_not_found", message))
            }
        }
    }

    /// Whether the execution is nobody else's.
    fn check_free(&self, caller: &CallerScope, execution: &ExecutionId) -> Result<(), PortFailure> {
        match self.executions().get(execution) {
            Some(owner) if !is_same(owner, caller) => {
                let message = "the execution belongs to another caller; use an id of your own";
                let kind = PortFailureKind::Forbidden;
                Err(PortFailure::rejected(kind, "execution_of_another", message))
            }
            _ => Ok(()),
        }
    }

    /// An execution belongs to who opened it first. Of many, those without a living lease are
    /// forgotten.
    fn own(&self, caller: &CallerScope, execution: &ExecutionId) {
        let mut executions = self.executions();
        if executions.len() >= KEPT {
            let living = self.leases().living_executions();
            executions.retain(|execution, _| living.contains(execution));
        }
        executions.entry(execution.clone()).or_insert_with(|| caller.clone());
    }
}

/// The same person in the same place, whatever their capabilities are by now.
fn is_same(one: &CallerScope, other: &CallerScope) -> bool {
    one.subject == other.subject
        && one.tenant_id == other.tenant_id
        && one.project_id == other.project_id
}

#[async_trait]
impl ExecutionSessionFactory for PartsFactory {
    async fn establish_delegation(
        &self,
        operation: &OperationContext,
        authority: &RequestAuthority,
        scope: &SessionScope,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        operation.remaining()?;
        Ok(self.leases().establish(&authority.caller, &scope.execution_id))
    }

    async fn create(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
        scope: &SessionScope,
    ) -> Result<ExecutionSessions, PortFailure> {
        operation.remaining()?;
        self.leases().admit(caller, delegation, &scope.execution_id)?;
        self.check_free(caller, &scope.execution_id)?;
        let sessions = (self.parts)(caller, scope)?;
        self.own(caller, &scope.execution_id);
        Ok(sessions)
    }

    async fn renew_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<ExecutionDelegationLease, PortFailure> {
        operation.remaining()?;
        self.leases().renew(caller, delegation)
    }

    async fn revoke_delegation(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        delegation: &ExecutionDelegationLease,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        self.leases().revoke(caller, delegation)
    }

    async fn submit_input(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        execution_id: &ExecutionId,
        operation_id: &OperationId,
        request_id: &str,
        response: InteractionResponse,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        self.check_owner(caller, execution_id)?;
        let input = Input::new(execution_id, request_id, &response);
        let answers = Arc::clone(&self.answers);
        let deliver = async { answers.answer(operation, execution_id, request_id, response).await };
        self.inputs.once(operation, operation_id, input, deliver).await
    }
}

impl fmt::Debug for PartsFactory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PartsFactory").finish_non_exhaustive()
    }
}
