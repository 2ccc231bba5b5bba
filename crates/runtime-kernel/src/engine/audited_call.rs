//! Decides what a model call comes to together with its audit.
//!
//! Knows nothing about what is kept. Invariants: what could not be audited is not sent; an answer
//! that came is told, whatever became of its audit. Without an audit a call is just made.

use std::{future::Future, sync::Arc};

use runtime_decision::{CONTEXT_AUDIT_FAILED, Outcome};
use runtime_ports::{
    CommitDisposition, ModelRequest, ModelResponse, OperationContext, PortFailure, PortFailureKind,
};

use super::{
    audit::CallAudit,
    contained::{Panicked, contained},
    effect_name::broke_down,
};

/// What came of a call.
#[derive(Debug)]
pub(super) enum AuditedReply {
    /// It is audited, or nobody wants it to be.
    Told(Result<ModelResponse, PortFailure>),
    /// The model answered, and the audit does not say so.
    Unaudited(Box<ModelResponse>, PortFailure),
}

/// Sends a request. With an audit, it is kept before and its end after.
pub(super) async fn audited<F>(
    audit: Option<CallAudit>,
    operation: Arc<OperationContext>,
    request: ModelRequest,
    send: impl FnOnce(Arc<OperationContext>, ModelRequest) -> F,
) -> AuditedReply
where
    F: Future<Output = Result<ModelResponse, PortFailure>>,
{
    match audit {
        None => AuditedReply::Told(send(operation, request).await),
        // A place of its own: calls without an audit take no room for one.
        Some(audit) => Box::pin(with_audit(audit, operation, request, send)).await,
    }
}

async fn with_audit<F>(
    audit: CallAudit,
    operation: Arc<OperationContext>,
    request: ModelRequest,
    send: impl FnOnce(Arc<OperationContext>, ModelRequest) -> F,
) -> AuditedReply
where
    F: Future<Output = Result<ModelResponse, PortFailure>>,
{
    let prepared = match audit.begin(&operation, &request).await {
        Ok(prepared) => prepared,
        Err(failure) => return AuditedReply::Told(Err(unsent(&failure))),
    };
    // A call that breaks down has an end, too.
    let reply = contained(send(Arc::clone(&operation), request)).await;
    let reply = reply.unwrap_or_else(|Panicked| Err(broke_down()));
    match audit.end(&operation, prepared, &reply).await {
        Ok(()) => AuditedReply::Told(reply),
        Err(failure) => unaudited(reply, &failure),
    }
}

fn unaudited(reply: Result<ModelResponse, PortFailure>, failure: &PortFailure) -> AuditedReply {
    match reply {
        Ok(response) => {
            let message =
                format!("the model answered, but its audit could not be ended: {failure}");
            let committed = CommitDisposition::Committed;
            AuditedReply::Unaudited(Box::new(response), of_audit(failure, committed, message))
        }
        Err(of_model) => {
            let message =
                format!("the model failed ({}), and its audit, too: {failure}", of_model.code);
            let failure = of_audit(failure, of_model.commit, message);
            AuditedReply::Told(Err(failure.with_attempts(of_model.attempts)))
        }
    }
}

fn unsent(failure: &PortFailure) -> PortFailure {
    let message = format!("the request could not be audited, so it was not sent: {failure}");
    of_audit(failure, CommitDisposition::NotCommitted, message)
}

/// The failure of the call. What an audit says about sizes is not about the request.
fn of_audit(failure: &PortFailure, commit: CommitDisposition, message: String) -> PortFailure {
    let kind = match failure.kind {
        PortFailureKind::ContextOverflow | PortFailureKind::OutputLimit => {
            PortFailureKind::Internal
        }
        kind => kind,
    };
    let of_call: fn(PortFailureKind, &'static str, String) -> PortFailure = match commit {
        CommitDisposition::NotCommitted => PortFailure::not_sent,
        CommitDisposition::Committed => PortFailure::committed,
        CommitDisposition::Unknown => PortFailure::in_flight_unknown,
    };
    of_call(kind, CONTEXT_AUDIT_FAILED, message)
}

impl AuditedReply {
    /// The outcome of a model call of a cycle.
    pub(super) fn of_cycle(self) -> Outcome {
        match self {
            Self::Told(reply) => Outcome::ModelReplied(reply),
            Self::Unaudited(response, failure) => {
                Outcome::ModelRepliedUnaudited { response, failure }
            }
        }
    }

    /// The outcome of a summary. One that is not audited is not used, and its attempts are told.
    pub(super) fn of_summary(self) -> Outcome {
        Outcome::Summarized(match self {
            Self::Told(reply) => reply,
            Self::Unaudited(response, failure) => Err(failure.with_attempts(response.attempts)),
        })
    }
}
