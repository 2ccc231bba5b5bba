//! Decides how a task that was delegated through [`SubagentSession`](runtime_ports::SubagentSession)
//! is run once, and what its end is told as.
//!
//! Knows tasks and their ends; the two ways to run one are in files of their own. Invariant: both
//! ways tell the same end in the same words.

mod engine_subagents;
mod hosts;
mod run_subagents;
mod task_book;
mod witness;

use runtime_ports::{
    CommitDisposition, Interruption, OperationContext, PortFailure, PortFailureKind,
    SubagentOutcome,
};

pub use self::{
    engine_subagents::EngineSubagents,
    hosts::DelegateHost,
    run_subagents::{RunSubagents, RunTemplate},
};

/// How a task ended.
type End = Result<SubagentOutcome, PortFailure>;

/// The answer of a child.
fn answered(text: &str) -> End {
    match text.trim() {
        "" => Err(nothing_to_say()),
        answer => Ok(SubagentOutcome { answer: answer.to_owned() }),
    }
}

fn nothing_to_say() -> PortFailure {
    let message = "the sub-agent ended with nothing to say; say more in its task";
    PortFailure::committed(PortFailureKind::Protocol, "sub_task_empty_answer", message)
}

fn no_turn_left() -> PortFailure {
    let message = "the sub-agent had no answer after its last model turn; allow more turns, or ask \
        for less";
    PortFailure::committed(PortFailureKind::Forbidden, "sub_task_turn_limit", message)
}

fn broke_down() -> PortFailure {
    let message = "the sub-agent broke down, which is a fault of its own";
    PortFailure::in_flight_unknown(PortFailureKind::Internal, "sub_task_panicked", message)
}

/// The failure of a child whose operation is over: what it did meanwhile is unknown.
fn interrupted(operation: &OperationContext) -> Option<PortFailure> {
    let interruption = match operation.remaining() {
        Ok(_) => return None,
        Err(failure) if failure.kind == PortFailureKind::Canceled => Interruption::Canceled,
        Err(_) => Interruption::DeadlineExceeded,
    };
    Some(interruption.in_flight())
}

/// A failure of the child's model. What the child did in the turns before stands.
fn after_turns(was_answered: bool, failure: PortFailure) -> PortFailure {
    let commit = match failure.commit {
        CommitDisposition::NotCommitted if was_answered => CommitDisposition::Committed,
        commit => commit,
    };
    PortFailure { commit, ..failure }
}
