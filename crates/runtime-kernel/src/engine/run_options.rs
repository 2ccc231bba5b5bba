//! Decides what can be said about one run beside its task.
//!
//! Knows names and the operation that the run belongs to.

use std::sync::Arc;

use runtime_decision::{BudgetLimits, RunIdentity};
use runtime_ports::OperationContext;
use uuid::Uuid;

use super::WatchOptions;

/// The names of a run. What is not given is made: the run id is a fresh one.
#[derive(Debug, Clone, Default)]
pub struct RunNames {
    /// Unique for each run.
    pub run_id: Option<Arc<str>>,
    /// Shared by a run and its sub-runs; the run id when it is not given.
    pub trace_id: Option<Arc<str>>,
    /// The conversation that the run belongs to.
    pub session_id: Option<Arc<str>>,
    /// The run that starts this one.
    pub parent_run_id: Option<Arc<str>>,
    /// The call that starts this run.
    pub parent_tool_call_id: Option<Arc<str>>,
}

/// What can be said about one run beside its task.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Its names.
    pub names: RunNames,
    /// The operation that the run is part of: the run is cancelled with it, and is at its end when
    /// the deadline passes. Without one, only the agent's own limits hold.
    pub operation: Option<OperationContext>,
    /// What the stream of [`Agent::watch`](super::Agent::watch) gives; no deltas unless they are
    /// asked for.
    pub watching: WatchOptions,
    /// Budgets of the run, beside those of the agent and of the task; the tighter one of two holds.
    pub budget: BudgetLimits,
}

impl RunOptions {
    /// Under this id.
    #[must_use]
    pub fn run_id(mut self, run_id: impl Into<Arc<str>>) -> Self {
        self.names.run_id = Some(run_id.into());
        self
    }

    /// As a part of this conversation.
    #[must_use]
    pub fn session_id(mut self, session_id: impl Into<Arc<str>>) -> Self {
        self.names.session_id = Some(session_id.into());
        self
    }

    /// With the pieces of answers in the stream, while they are generated.
    #[must_use]
    pub const fn with_deltas(mut self) -> Self {
        self.watching.deltas = true;
        self
    }

    /// With these budgets, beside those of the agent.
    #[must_use]
    pub fn budget(mut self, limits: BudgetLimits) -> Self {
        self.budget = self.budget.tightened_by(&limits);
        self
    }

    /// As a part of this operation.
    #[must_use]
    pub fn within(mut self, operation: OperationContext) -> Self {
        self.operation = Some(operation);
        self
    }
}

impl RunNames {
    pub(super) fn identity(&self, task_id: Arc<str>, agent_name: Arc<str>) -> RunIdentity {
        let fresh = || Uuid::new_v4().to_string().into();
        let run_id: Arc<str> = self.run_id.clone().unwrap_or_else(fresh);
        RunIdentity {
            trace_id: self.trace_id.clone().unwrap_or_else(|| Arc::clone(&run_id)),
            run_id,
            session_id: self.session_id.clone(),
            parent_run_id: self.parent_run_id.clone(),
            parent_tool_call_id: self.parent_tool_call_id.clone(),
            task_id,
            agent_name,
        }
    }
}
