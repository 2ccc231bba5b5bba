//! Decides which calls run at once, which are asked for, and what is told of a refusal.
//!
//! Knows what tools declare they may do. Refuses to know how a person is asked. Invariant: a
//! command is always asked for, because nothing contains it yet.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use runtime_kernel::engine::{
    ApprovalProvider, ApprovalRequest, CallbackError, ProviderDecision, Ruling, RunContext,
    ToolPolicy,
};
use runtime_ports::{
    ApprovalDecision, EffectClass, InteractionRequest, InteractionResponse, InteractionSession,
    Interruption, OperationContext, PortFailure,
};
use tokio::sync::watch;

use crate::terminal::TerminalInteraction;

/// The policy of the command: reading is free, writing asks unless it is allowed, all else asks.
pub(crate) fn policy(allow_writes: bool) -> ToolPolicy {
    let workspace_write = if allow_writes { Ruling::Allow } else { Ruling::Ask };
    ToolPolicy { workspace_write, ..ToolPolicy::ask_for_effects() }
}

/// Refuses at once, and says what to do, where nobody can be asked.
pub(crate) struct Attendance(pub(crate) TerminalInteraction);

#[async_trait]
impl ApprovalProvider for Attendance {
    async fn decide(
        &self,
        _run: &RunContext,
        request: &ApprovalRequest,
    ) -> Result<ProviderDecision, CallbackError> {
        if self.0.is_attended() {
            return Ok(ProviderDecision::NeedsApproval);
        }
        self.0.note_nobody();
        Ok(ProviderDecision::Denied { reason: nobody(request.effect) })
    }
}

fn nobody(effect: EffectClass) -> String {
    let hint = match effect {
        EffectClass::WorkspaceWrite => "run again with --yes, or from a terminal",
        _ => "run again from a terminal; --yes does not cover commands",
    };
    format!("this needs approval and there is no terminal to ask on; {hint}")
}

/// The person at the terminal, who is asked once what led to the question is on the screen, and
/// whose no is told to the model as such.
pub(crate) struct Person {
    pub(crate) terminal: TerminalInteraction,
    pub(crate) announced: Announced,
}

/// The questions that the screen has told of. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Announced(Arc<watch::Sender<Told>>);

#[derive(Default)]
struct Told {
    questions: BTreeSet<Arc<str>>,
    /// Something was left out: it may have been any of them.
    all: bool,
}

impl Announced {
    /// The screen has told of this question.
    pub(crate) fn note(&self, request_id: &Arc<str>) {
        self.0.send_modify(|told| {
            told.questions.insert(Arc::clone(request_id));
        });
    }

    /// The screen has left something out.
    pub(crate) fn note_a_gap(&self) {
        self.0.send_modify(|told| told.all = true);
    }

    async fn until(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<(), PortFailure> {
        let mut told = self.0.subscribe();
        let is_told = |told: &Told| told.all || told.questions.contains(request_id);
        // The sender lives in this value, so that a wait does not fail.
        let waited = operation.bounded(told.wait_for(is_told)).await;
        waited.map(drop).map_err(Interruption::before_sending)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl InteractionSession for Person {
    async fn prepare(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        self.terminal.prepare(operation, request).await
    }

    async fn wait(
        &self,
        operation: &OperationContext,
        request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        self.announced.until(operation, request_id).await?;
        self.terminal.wait(operation, request_id).await.map(told)
    }

    async fn request(
        &self,
        operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<InteractionResponse, PortFailure> {
        let request_id = request.request_id.clone();
        self.prepare(operation, request).await?;
        self.wait(operation, &request_id).await
    }
}

fn told(response: InteractionResponse) -> InteractionResponse {
    let decision = response.decision.map(|decision| match decision {
        ApprovalDecision::Denied { reason } => ApprovalDecision::Denied { reason: no(&reason) },
        allowed => allowed,
    });
    InteractionResponse { decision, ..response }
}

fn no(reason: &str) -> String {
    match reason {
        "" => "the user said no".to_owned(),
        reason => format!("the user said no: {reason}"),
    }
}

#[cfg(test)]
mod tests;
