//! Decides what scripted children come back with.
//!
//! Knows nothing about how a child works. Invariant: one task has one outcome, however often it is
//! asked for.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    OperationContext, PortFailure, PortFailureKind, SubagentOutcome, SubagentRequest,
    SubagentSession,
};

use crate::{
    Step,
    fake_port::{FakePort, fake_port, scripted},
    model_step::shortened,
    script::Script,
};

/// One step of a subagent's script.
pub type SubagentStep = Step<SubagentOutcome>;

/// A [`SubagentSession`] that plays a script, one step for each new task. Clones share it.
///
/// Name for a [`FaultPlan`](crate::FaultPlan): `subagent.execute`.
#[derive(Clone)]
pub struct FakeSubagent {
    port: FakePort<HashMap<String, Done>, SubagentCall>,
    script: Arc<Script<SubagentStep>>,
}

/// What a [`FakeSubagent`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubagentCall {
    /// Run this task.
    Execute(SubagentRequest),
}

/// A task that came to its end.
struct Done {
    request: SubagentRequest,
    outcome: SubagentOutcome,
}

fake_port!(FakeSubagent, SubagentCall);
scripted!(FakeSubagent);

impl Step<SubagentOutcome> {
    /// Comes back with this answer.
    pub fn answer(answer: impl Into<String>) -> Self {
        Self::reply(SubagentOutcome { answer: answer.into() })
    }
}

impl FakeSubagent {
    /// Children that play these steps.
    #[must_use]
    pub fn new(steps: impl IntoIterator<Item = SubagentStep>) -> Self {
        let script = Arc::new(Script::new("FakeSubagent", steps));
        Self { port: FakePort::new(HashMap::new()), script }
    }

    fn done(&self, request: &SubagentRequest) -> Result<Option<SubagentOutcome>, PortFailure> {
        let world = self.port.world();
        let Some(done) = world.get(&request.request_id) else { return Ok(None) };
        if done.request == *request {
            return Ok(Some(done.outcome.clone()));
        }
        let message = "another task has this id; use a new one";
        Err(PortFailure::rejected(PortFailureKind::Conflict, "SUBAGENT_CONFLICT", message))
    }

    async fn run(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure> {
        if let Some(outcome) = self.done(&request)? {
            return Ok(outcome);
        }
        let asked = format!("task {}: {}", request.request_id, shortened(&request.prompt));
        let outcome = self.script.next(asked)?.play(operation).await?;
        let (id, done) = (request.request_id.clone(), Done { request, outcome: outcome.clone() });
        self.port.world().insert(id, done);
        Ok(outcome)
    }
}

impl Default for FakeSubagent {
    fn default() -> Self {
        Self::new([])
    }
}

#[async_trait]
impl SubagentSession for FakeSubagent {
    async fn execute(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure> {
        let call = SubagentCall::Execute(request.clone());
        let effect = self.run(operation, request);
        self.port.call_async(operation, "subagent.execute", call, effect).await
    }
}
