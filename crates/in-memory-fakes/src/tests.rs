//! Decides whether each fake keeps the contract of its port, and its script.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind, Transcript,
};
use runtime_types::{ExecutionId, OperationId};

mod fault_plan;
mod model;
mod script;

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
