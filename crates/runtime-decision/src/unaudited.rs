//! Decides what becomes of a run whose model calls cannot be audited.
//!
//! Knows nothing about what an audit keeps. Invariant: an answer that came is in the history and in
//! the ledger, whatever became of its audit.

use runtime_ports::{ModelResponse, PortFailure};

use crate::{
    Machine, Out, RunError,
    state::{Phase, RequestView, Stop},
};

/// Code of a [`PortFailure`] that says that a model call could not be audited, and of the error of
/// the run that it ends. Its commit disposition is that of the model call: not committed when
/// nothing was sent.
pub const CONTEXT_AUDIT_FAILED: &str = "context_audit_failed";

/// Why a run ends that fails with a model call.
pub(crate) fn code_of(failure: &PortFailure) -> &'static str {
    match is_of_audit(failure) {
        true => CONTEXT_AUDIT_FAILED,
        false => "model_failed",
    }
}

/// Whether the audit failed, and not the model.
pub(crate) fn is_of_audit(failure: &PortFailure) -> bool {
    failure.code == CONTEXT_AUDIT_FAILED
}

impl Machine {
    /// The answer counts, and nothing follows from it: what comes next would not be audited.
    pub(crate) fn take_unaudited(
        &mut self,
        view: RequestView,
        response: ModelResponse,
        failure: PortFailure,
        out: &mut Out,
    ) -> Phase {
        let error = RunError::of_port(CONTEXT_AUDIT_FAILED, failure);
        self.set_stop(Stop::Fail(Box::new(error)));
        self.take_reply(view, Ok(response), out)
    }
}
