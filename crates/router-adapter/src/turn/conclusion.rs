//! Decides the one end of a turn, and makes it known.
//!
//! Knows nothing about how the turn came there. Invariant: the operation leaves the tree first, so
//! that a later cancellation truthfully finds nothing running; then the receipt is settled; only
//! then the outcome is told. A receipt that could not be stored fails the turn.

use runtime_ports::{
    AgentContinuation, AgentTurnEvent, Interruption, PortFailure, PortFailureKind, TokenUsage,
    TurnEnd,
};

use super::{Completion, Outcome, OwnerEnd, TurnPlan};

/// Why a turn stopped without a final answer.
pub(super) struct Stopped {
    pub(super) end: TurnEnd,
    pub(super) failure: PortFailure,
}

/// Ends the turn in the tree, settles its receipt, and tells the handle.
pub(super) async fn conclude(plan: TurnPlan, end: OwnerEnd, course: Result<String, Stopped>) {
    let TurnPlan { thread, account, registration, .. } = plan;
    let course = if registration.conclude() { Err(as_cancelled(course)) } else { course };
    let turn_end = course.as_ref().err().map_or(TurnEnd::Completed, |stopped| stopped.end);
    let usage = account.usage();
    let course = course.map_err(|stopped| account.blame(stopped.failure));
    let settlement = account.settle(turn_end).await;
    tracing::debug!(
        end = ?turn_end,
        requests = settlement.receipt.requests.len(),
        stored = settlement.stored.is_ok(),
        "turn settled"
    );
    let conclusion = match settlement.charged(course) {
        Ok(answer) => Ok(complete(answer, usage, thread.keep())),
        Err(failure) => {
            drop(thread);
            // A call that the host has not seen must not run any more.
            end.events.retain(|event| !matches!(event, AgentTurnEvent::ToolCall { .. }));
            Err(failure)
        }
    };
    // The handle may be gone; the receipt is stored either way.
    let _ = end.outcome.send(Outcome { settlement, conclusion });
}

/// A turn that was cancelled says so, whatever the call that it broke off says, and also when its
/// answer came at the last moment.
fn as_cancelled(course: Result<String, Stopped>) -> Stopped {
    let canceled = Interruption::Canceled.before_sending();
    let failure = match course {
        Ok(_) => canceled,
        Err(Stopped { failure, .. }) if failure.kind == PortFailureKind::Canceled => failure,
        Err(Stopped { failure, .. }) => PortFailure { commit: failure.commit, ..canceled },
    };
    Stopped { end: TurnEnd::Cancelled, failure }
}

fn complete(
    answer: String,
    usage: TokenUsage,
    continuation: Option<AgentContinuation>,
) -> Completion {
    let usage = Some(usage).filter(|usage| !usage.is_unreported());
    let thread_id = continuation.as_ref().map(|continuation| continuation.thread_id.clone());
    let event = AgentTurnEvent::Completed { answer, usage, thread_id, turn_id: None };
    Completion { event, continuation }
}
