//! Decides what is kept of each model call of a run, and when: before anything is sent, and when
//! the answer is there.
//!
//! Knows the audit port; refuses to know why a context looks as it does. Invariants: nothing is
//! sent that is not kept; every id derives from that of the invocation; work is proportional to
//! what is new.

mod derivations;
mod records;
mod segments;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use runtime_decision::RequestOrigin;
use runtime_ports::{
    ContextAuditSession, ModelInvocationAudit, ModelInvocationAuditState, ModelRequest,
    ModelResponse, OperationContext, PortFailure, TokenUsage,
};

use self::{
    records::{Record, records},
    segments::Sent,
};
use super::{
    contained::{Panicked, contained},
    effect_name::broke_down,
};

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A cycle of the run.
    Cycle,
    /// A summary of a part of its history.
    Summary,
}

impl Purpose {
    const fn name(self) -> &'static str {
        match self {
            Self::Cycle => "cycle",
            Self::Summary => "summary",
        }
    }
}

/// The audit of one run.
pub(super) struct RunAudit {
    session: Arc<dyn ContextAuditSession>,
    /// Most time for one record.
    patience: Duration,
    /// Tokens taken for the protocol.
    protocol_tokens: u64,
    /// The last request of a cycle that was sent.
    last: Mutex<Option<Sent>>,
}

/// The audit of one model call.
pub(super) struct CallAudit {
    pub(super) run: Arc<RunAudit>,
    pub(super) origin: RequestOrigin,
    pub(super) purpose: Purpose,
}

impl RunAudit {
    /// The audit of a run that has sent nothing in this process.
    pub(super) fn new(
        session: Arc<dyn ContextAuditSession>,
        patience: Duration,
        protocol_tokens: u64,
    ) -> Self {
        Self { session, patience, protocol_tokens, last: Mutex::default() }
    }

    /// Keeps one record within the operation of the call.
    async fn keep(&self, operation: &OperationContext, record: Record) -> Result<(), PortFailure> {
        let own = operation.clone().within(self.patience);
        let write = async {
            match record {
                Record::Snapshot(it) => self.session.snapshot(&own, *it).await,
                Record::Derivation(it) => self.session.derivation(&own, it).await,
                Record::Invocation(it) => self.session.model_invocation(&own, it).await,
            }
        };
        match own.bounded(contained(write)).await {
            Ok(Ok(kept)) => kept,
            Ok(Err(Panicked)) => Err(broke_down()),
            Err(interruption) => Err(interruption.in_flight()),
        }
    }
}

impl CallAudit {
    /// Keeps what is about to be sent; gives the record that its end is made from.
    ///
    /// # Errors
    /// Of the audit. Nothing may be sent then.
    pub(super) async fn begin(
        &self,
        operation: &OperationContext,
        request: &ModelRequest,
    ) -> Result<ModelInvocationAudit, PortFailure> {
        let (records, sent) = self.records(request);
        let prepared = ModelInvocationAudit {
            id: request.invocation_id.to_string(),
            request_snapshot_id: sent.snapshot_id.clone(),
            model: request.model.to_string(),
            state: ModelInvocationAuditState::Prepared,
            usage: TokenUsage::default(),
            error_code: None,
        };
        for record in records {
            self.run.keep(operation, record).await?;
        }
        self.run.keep(operation, Record::Invocation(prepared.clone())).await?;
        if self.purpose == Purpose::Cycle {
            *self.last() = Some(sent);
        }
        Ok(prepared)
    }

    fn records(&self, request: &ModelRequest) -> (Vec<Record>, Sent) {
        records(self, request, self.last().as_ref())
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Sent>> {
        self.run.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps how the call ended. What ends the call does not end this: it has a time of its own.
    ///
    /// # Errors
    /// Of the audit.
    pub(super) async fn end(
        &self,
        operation: &OperationContext,
        prepared: ModelInvocationAudit,
        reply: &Result<ModelResponse, PortFailure>,
    ) -> Result<(), PortFailure> {
        let (id, execution) = (operation.id.clone(), operation.execution_id.clone());
        let own_time = OperationContext {
            parent: operation.parent.clone(),
            ..OperationContext::root(id, execution, self.run.patience)
        };
        // Whoever drops this call ends what is being kept, too.
        let _ends = own_time.cancellation.clone().drop_guard();
        let (state, usage, error_code) = match reply {
            Ok(response) => (ModelInvocationAuditState::Succeeded, response.usage, None),
            Err(failure) => {
                let code = failure.code.clone();
                (ModelInvocationAuditState::Failed, TokenUsage::default(), Some(code))
            }
        };
        let ended = ModelInvocationAudit { state, usage, error_code, ..prepared };
        self.run.keep(&own_time, Record::Invocation(ended)).await
    }
}
