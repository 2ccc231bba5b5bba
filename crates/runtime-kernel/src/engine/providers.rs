//! Decides how those are asked who decide about calls, and those who bring messages.
//!
//! Knows nothing about what they decide. Invariant: a call that the policy gates is never released
//! by a provider that was not asked to decide.

mod from_fn;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use runtime_decision::{ApprovalRequest, Collected, Consultation, CycleView};
use runtime_ports::ModelMessage;

pub use self::from_fn::{approvals_from, cycle_inputs_from, interruptions_from};
use super::callback::{CallbackError, RunContext, Unanswered, answered};

/// What a provider decides about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderDecision {
    /// It may run.
    Approved,
    /// It may not.
    Denied {
        /// Why, for the model.
        reason: String,
    },
    /// The provider waited for a decision, and none came.
    TimedOut {
        /// Why, for the model.
        reason: String,
    },
    /// Somebody must be asked.
    NeedsApproval,
}

/// Decides about calls before a human is asked.
///
/// # Contract
/// - A decision is about the exact arguments of the request and about nothing else.
/// - An error fails the run; it is never taken for a denial.
/// - Asking changes nothing: a provider may be asked again about the same request.
///
/// # Cancellation
/// The future is dropped when the run ends, and after [`ApprovalRequest::timeout`].
#[async_trait]
pub trait ApprovalProvider: Send + Sync {
    /// Whether a call is decided about that the policy lets run. Of a call that the policy gates,
    /// this is not asked. `false` unless it is written: the policy alone says what is gated.
    async fn should_request(
        &self,
        run: &RunContext,
        request: &ApprovalRequest,
    ) -> Result<bool, CallbackError> {
        let _ = (run, request);
        Ok(false)
    }

    /// The decision.
    async fn decide(
        &self,
        run: &RunContext,
        request: &ApprovalRequest,
    ) -> Result<ProviderDecision, CallbackError>;
}

/// Brings messages at the start of each cycle.
///
/// # Contract
/// An error fails the run.
///
/// # Cancellation
/// The future is dropped when the run ends, and may be called again: a message is taken out of
/// where it waits only when it is returned.
#[async_trait]
pub trait CycleInputProvider: Send + Sync {
    /// The messages, oldest first; none most of the time.
    async fn messages(
        &self,
        run: &RunContext,
        view: &CycleView,
    ) -> Result<Vec<ModelMessage>, CallbackError>;
}

/// Brings messages that interrupt a batch of tools; asked after each result.
///
/// # Contract
/// An error fails the run. With any message, the calls of the batch that have not begun do not
/// begin.
///
/// # Cancellation
/// As for [`CycleInputProvider`].
#[async_trait]
pub trait InterruptionProvider: Send + Sync {
    /// The messages, oldest first; none most of the time.
    async fn messages(
        &self,
        run: &RunContext,
        view: &CycleView,
    ) -> Result<Vec<ModelMessage>, CallbackError>;
}

/// Asks a provider about a call. Never panics; ends with the request's timeout.
pub(crate) async fn consult(
    provider: Arc<dyn ApprovalProvider>,
    request: ApprovalRequest,
    run: RunContext,
) -> Consultation {
    let asked = answered(&run.operation, consulted(&*provider, &run, &request));
    match tokio::time::timeout(request.timeout, asked).await {
        Ok(Ok(said)) => said,
        Ok(Err(Unanswered::Failed(message))) => Consultation::Failed { message },
        Ok(Err(Unanswered::Interrupted)) => Consultation::Interrupted,
        Err(_elapsed) => Consultation::TimedOut { reason: "nobody decided in time".to_owned() },
    }
}

async fn consulted(
    provider: &dyn ApprovalProvider,
    run: &RunContext,
    request: &ApprovalRequest,
) -> Result<Consultation, CallbackError> {
    if !request.required && !provider.should_request(run, request).await? {
        return Ok(Consultation::NotNeeded);
    }
    Ok(match provider.decide(run, request).await? {
        ProviderDecision::Approved => Consultation::Approved,
        ProviderDecision::Denied { reason } => Consultation::Denied { reason },
        ProviderDecision::TimedOut { reason } => Consultation::TimedOut { reason },
        ProviderDecision::NeedsApproval => Consultation::NeedsApproval,
    })
}

/// Asks a provider for the messages of a cycle. Never panics.
pub(crate) async fn collect_cycle_inputs(
    provider: Arc<dyn CycleInputProvider>,
    view: CycleView,
    run: RunContext,
) -> Collected {
    let asked = async { provider.messages(&run, &view).await };
    collected(answered(&run.operation, asked).await)
}

/// Asks a provider for messages that interrupt. Never panics.
pub(crate) async fn collect_interruptions(
    provider: Arc<dyn InterruptionProvider>,
    view: CycleView,
    run: RunContext,
) -> Collected {
    let asked = async { provider.messages(&run, &view).await };
    collected(answered(&run.operation, asked).await)
}

fn collected(answer: Result<Vec<ModelMessage>, Unanswered>) -> Collected {
    match answer {
        Ok(messages) => Collected::Messages(messages),
        Err(Unanswered::Failed(message)) => Collected::Failed(message),
        Err(Unanswered::Interrupted) => Collected::Interrupted,
    }
}
