//! Decides whether each fake keeps the contract of its port, and its script.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use runtime_ports::{
    AgentProvider, CommitDisposition, Metering, OperationContext, PortFailure, PortFailureKind,
    ResolvedExecutionContext, Transcript, TurnEnd, UsageReceipt,
};
use runtime_types::{ExecutionId, OperationId, RuntimeInstanceId, WorkspaceId};
use uuid::Uuid;

mod artifacts;
mod context_audit;
mod conversation;
mod every_port;
mod fault_plan;
mod interaction;
mod journal;
mod model;
mod receipt_store;
mod resolver;
mod resources;
mod script;
mod session_factory;
mod subagent;
mod tool;
mod trace;
mod workspace;

/// An operation of execution `run-1` with an hour to go.
fn operation(id: &str) -> OperationContext {
    let id = OperationId::new(id).unwrap();
    OperationContext::root(id, ExecutionId::new("run-1").unwrap(), Duration::from_hours(1))
}

/// An operation that was cancelled before the call.
fn cancelled() -> OperationContext {
    let operation = operation("cancelled");
    operation.cancellation.cancel();
    operation
}

/// An operation whose deadline has passed.
fn late() -> OperationContext {
    operation("late").within(Duration::ZERO)
}

/// A failure that nobody could mistake for another one.
fn outage() -> PortFailure {
    PortFailure::in_flight_unknown(PortFailureKind::Unavailable, "OUTAGE", "the world is down")
}

/// The message of the panic that `work` ends with.
fn panic_of(work: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("no panic");
    panic.downcast_ref::<String>().expect("a panic with a message").clone()
}

/// What a caller may conclude from a failure.
fn verdict<T: std::fmt::Debug>(outcome: Result<T, PortFailure>) -> (String, CommitDisposition) {
    let failure = outcome.expect_err("a failure");
    (failure.code, failure.commit)
}

fn transcript(text: &str) -> Transcript {
    let role = runtime_ports::ModelRole::User;
    Transcript::from(vec![runtime_ports::ModelMessage::text(role, text)])
}

fn kind_of<T: std::fmt::Debug>(outcome: Result<T, PortFailure>) -> PortFailureKind {
    outcome.expect_err("a failure").kind
}

fn run(id: &str) -> ExecutionId {
    ExecutionId::new(id).unwrap()
}

/// The receipt of turn `id` as it is opened, begun at `started_at_ms`.
fn opened(id: u128, started_at_ms: u64) -> UsageReceipt {
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: Uuid::from_u128(id),
        parent_operation_id: None,
        user_id: "ada".to_owned(),
        requested_model: "alias".to_owned(),
        provider: AgentProvider::new("fake"),
        provider_model: "fake-model".to_owned(),
        thread_id: None,
        started_at_ms,
        ended_at_ms: started_at_ms,
        end: TurnEnd::Interrupted,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: true,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}

/// What the runtime instance `id` stands for.
fn context(id: &str) -> ResolvedExecutionContext {
    ResolvedExecutionContext {
        runtime_instance_id: RuntimeInstanceId::new(id).unwrap(),
        agent_id: "agent".to_owned(),
        runtime_type: "kernel".to_owned(),
        model: "fake-model".to_owned(),
        workspace_id: WorkspaceId::new("ws").unwrap(),
        package_id: "package".to_owned(),
        package_version: "1.0.0".to_owned(),
        package_digest: None,
        metadata: <_>::default(),
    }
}
