//! Decides what follows an answer of the model.
//!
//! Knows nothing about how the step is taken. Invariant: an answer that is not whole runs no tool and
//! completes no turn, and no tool runs whose result could not be sent.

use runtime_ports::{ModelFinish, PortFailure, PortFailureKind};

/// What follows an answer.
#[derive(Debug, PartialEq)]
pub(super) enum NextStep {
    /// The answer is final.
    Complete,
    /// Its calls are surfaced, then the next request is sent.
    SurfaceCalls,
    /// The turn fails.
    Fail(PortFailure),
}

/// The table: reason to stop, whether there are calls, whether another request is permitted.
pub(super) fn after(finish: ModelFinish, has_calls: bool, may_send: bool) -> NextStep {
    use ModelFinish::{ContentFilter, Length, Other, Stop, ToolCalls};
    match (finish, has_calls, may_send) {
        (Stop | ToolCalls, false, _) => NextStep::Complete,
        (Stop | ToolCalls, true, true) => NextStep::SurfaceCalls,
        (Stop | ToolCalls, true, false) => NextStep::Fail(out_of_requests()),
        (Length, _, _) => NextStep::Fail(cut()),
        (ContentFilter, _, _) => NextStep::Fail(filtered()),
        (Other, _, _) => NextStep::Fail(incomplete()),
    }
}

fn out_of_requests() -> PortFailure {
    let message = "the model calls tools, but the turn has no request left; raise max_requests";
    PortFailure::committed(PortFailureKind::Forbidden, "max_requests_reached", message)
}

fn cut() -> PortFailure {
    let message = "the answer ended early: it met a length limit, or a tool call in it is \
        incomplete; ask for a shorter one or raise the limit";
    PortFailure::committed(PortFailureKind::Protocol, "model_output_limit", message)
}

fn filtered() -> PortFailure {
    let message = "a content filter cut the answer; change the input";
    PortFailure::committed(PortFailureKind::Forbidden, "content_filtered", message)
}

fn incomplete() -> PortFailure {
    let message = "the model stopped for a reason that does not complete an answer";
    PortFailure::committed(PortFailureKind::Protocol, "model_incomplete", message)
}

#[cfg(test)]
mod tests;
