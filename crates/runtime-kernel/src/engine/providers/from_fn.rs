//! Decides how an async closure serves as a provider.
//!
//! Knows nothing about what it returns.

use std::future::Future;

use async_trait::async_trait;
use runtime_decision::{ApprovalRequest, CycleView};
use runtime_ports::ModelMessage;

use super::{ApprovalProvider, CycleInputProvider, InterruptionProvider, ProviderDecision};
use crate::engine::callback::{CallbackError, RunContext};

/// A provider that decides with a closure, about those calls only that the policy gates.
///
/// # Examples
/// ```
/// # use runtime_kernel::engine::{ApprovalProvider, ProviderDecision, approvals_from};
/// # use runtime_ports::EffectClass;
/// let provider = approvals_from(|_run, request| async move {
///     Ok(match request.effect {
///         EffectClass::ReadOnly => ProviderDecision::Approved,
///         _ => ProviderDecision::NeedsApproval,
///     })
/// });
/// # fn takes(_: impl ApprovalProvider) {}
/// # takes(provider);
/// ```
pub fn approvals_from<F, Decided>(decide: F) -> impl ApprovalProvider + use<F, Decided>
where
    F: Fn(RunContext, ApprovalRequest) -> Decided + Send + Sync,
    Decided: Future<Output = Result<ProviderDecision, CallbackError>> + Send,
{
    FromFn(decide)
}

/// A provider that brings what a closure returns, at the start of each cycle.
///
/// # Examples
/// ```
/// # use runtime_kernel::engine::{CycleInputProvider, cycle_inputs_from};
/// # use runtime_ports::{ModelMessage, ModelRole};
/// let provider = cycle_inputs_from(|_run, view| async move {
///     let left = format!("This is cycle {}.", view.cycle);
///     Ok(vec![ModelMessage::text(ModelRole::User, left)])
/// });
/// # fn takes(_: impl CycleInputProvider) {}
/// # takes(provider);
/// ```
pub fn cycle_inputs_from<F, Brought>(bring: F) -> impl CycleInputProvider + use<F, Brought>
where
    F: Fn(RunContext, CycleView) -> Brought + Send + Sync,
    Brought: Future<Output = Result<Vec<ModelMessage>, CallbackError>> + Send,
{
    FromFn(bring)
}

/// A provider that interrupts with what a closure returns, after each result of a batch.
pub fn interruptions_from<F, Brought>(bring: F) -> impl InterruptionProvider + use<F, Brought>
where
    F: Fn(RunContext, CycleView) -> Brought + Send + Sync,
    Brought: Future<Output = Result<Vec<ModelMessage>, CallbackError>> + Send,
{
    FromFn(bring)
}

struct FromFn<F>(F);

#[async_trait]
impl<F, Decided> ApprovalProvider for FromFn<F>
where
    F: Fn(RunContext, ApprovalRequest) -> Decided + Send + Sync,
    Decided: Future<Output = Result<ProviderDecision, CallbackError>> + Send,
{
    async fn decide(
        &self,
        run: &RunContext,
        request: &ApprovalRequest,
    ) -> Result<ProviderDecision, CallbackError> {
        (self.0)(run.clone(), request.clone()).await
    }
}

#[async_trait]
impl<F, Brought> CycleInputProvider for FromFn<F>
where
    F: Fn(RunContext, CycleView) -> Brought + Send + Sync,
    Brought: Future<Output = Result<Vec<ModelMessage>, CallbackError>> + Send,
{
    async fn messages(
        &self,
        run: &RunContext,
        view: &CycleView,
    ) -> Result<Vec<ModelMessage>, CallbackError> {
        (self.0)(run.clone(), view.clone()).await
    }
}

#[async_trait]
impl<F, Brought> InterruptionProvider for FromFn<F>
where
    F: Fn(RunContext, CycleView) -> Brought + Send + Sync,
    Brought: Future<Output = Result<Vec<ModelMessage>, CallbackError>> + Send,
{
    async fn messages(
        &self,
        run: &RunContext,
        view: &CycleView,
    ) -> Result<Vec<ModelMessage>, CallbackError> {
        (self.0)(run.clone(), view.clone()).await
    }
}
