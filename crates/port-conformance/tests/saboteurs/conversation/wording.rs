//! What the saboteur says of what it did.
//!
//! Knows nothing about what that was.

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind};

use super::ConversationFault as Fault;

pub(super) fn told<T>(fault: Fault, outcome: Result<T, PortFailure>) -> Result<T, PortFailure> {
    outcome.map_err(|mut failure| {
        match fault {
            Fault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
            Fault::FlattensKinds => failure.kind = PortFailureKind::Internal,
            _ => {}
        }
        failure
    })
}

pub(super) fn told_of_append(
    fault: Fault,
    outcome: Result<(), PortFailure>,
) -> Result<(), PortFailure> {
    let Err(mut failure) = outcome else { return outcome };
    match fault {
        Fault::SwallowsFailures => return Ok(()),
        Fault::DeniesTheUnknown => failure.commit = CommitDisposition::NotCommitted,
        Fault::ClaimsItsAppends => failure.commit = CommitDisposition::Committed,
        _ => {}
    }
    Err(failure)
}
