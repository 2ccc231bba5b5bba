//! Decides which calls run at once, which are asked for, and which are refused.
//!
//! Knows what tools declare they may do. Refuses to know how a person is asked. Invariant: a
//! decision is bound to the digest of the exact call, and a command is always asked for, because
//! nothing contains it yet.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    sync::{Arc, Mutex, PoisonError},
};

use runtime_kernel::ToolCall;
use runtime_ports::{
    ApprovalDecision, Digest, EffectClass, InteractionRequest, InteractionSession,
    OperationContext, PortFailure, PortFailureKind, ToolDescriptor,
};

use crate::{event::Event, question::question, show::Show, terminal::NOBODY_TO_ASK};

/// What may happen to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may run.
    Run,
    /// It may not; the model is told why.
    Refused { code: &'static str, reason: String },
}

/// The policy of the command.
pub(crate) struct Approvals {
    interaction: Arc<dyn InteractionSession>,
    show: Arc<dyn Show>,
    allow_writes: bool,
    allowed_for_run: Mutex<BTreeSet<String>>,
    found_nobody: AtomicBool,
}

impl Approvals {
    pub(crate) fn new(
        interaction: Arc<dyn InteractionSession>,
        show: Arc<dyn Show>,
        allow_writes: bool,
    ) -> Self {
        let (allowed_for_run, found_nobody) = (Mutex::default(), AtomicBool::new(false));
        Self { interaction, show, allow_writes, allowed_for_run, found_nobody }
    }

    /// Whether something was refused because nobody could be asked.
    pub(crate) fn found_nobody(&self) -> bool {
        self.found_nobody.load(Ordering::Relaxed)
    }

    /// Decides on call number `number`, asking where the policy says so.
    ///
    /// # Errors
    /// A failure of the interaction other than that nobody is there: cancelled, for example.
    pub(crate) async fn admit(
        &self,
        operation: &OperationContext,
        number: u64,
        descriptor: &ToolDescriptor,
        call: &ToolCall,
    ) -> Result<Verdict, PortFailure> {
        if self.runs_unasked(descriptor) {
            return Ok(Verdict::Run);
        }
        let digest = call_digest(descriptor, call);
        let tool = descriptor.definition.name.clone();
        self.show.show(&Event::ApprovalRequested { number, tool, digest: digest.clone() });
        let prompt = question(call, descriptor.effect);
        let request = InteractionRequest::approval(format!("call-{number}"), prompt, digest);
        let verdict = match self.interaction.request(operation, request).await {
            Ok(response) => self.decided(descriptor, response.decision),
            Err(failure) if failure.code == NOBODY_TO_ASK => self.nobody(descriptor.effect),
            Err(failure) if failure.kind == PortFailureKind::Timeout => Verdict::Refused {
                code: "approval_timeout",
                reason: "nobody decided in time".to_owned(),
            },
            Err(failure) => return Err(failure),
        };
        self.tell(number, descriptor, &verdict);
        Ok(verdict)
    }

    fn runs_unasked(&self, descriptor: &ToolDescriptor) -> bool {
        let allowed = self.allowed_for_run.lock().unwrap_or_else(PoisonError::into_inner);
        match descriptor.effect {
            EffectClass::ReadOnly => true,
            EffectClass::WorkspaceWrite => {
                self.allow_writes || allowed.contains(&descriptor.definition.name)
            }
            EffectClass::Process | EffectClass::External => false,
        }
    }

    fn decided(&self, descriptor: &ToolDescriptor, decision: Option<ApprovalDecision>) -> Verdict {
        match decision {
            Some(ApprovalDecision::Approved) => Verdict::Run,
            // Not offered, so nobody meant it: what nothing contains is allowed one by one.
            Some(ApprovalDecision::ApprovedForRun)
                if descriptor.effect != EffectClass::WorkspaceWrite =>
            {
                let reason = said_no("an answer for all covers no command");
                Verdict::Refused { code: "approval_denied", reason }
            }
            Some(ApprovalDecision::ApprovedForRun) => {
                let mut allowed =
                    self.allowed_for_run.lock().unwrap_or_else(PoisonError::into_inner);
                allowed.insert(descriptor.definition.name.clone());
                Verdict::Run
            }
            Some(ApprovalDecision::Denied { reason }) => {
                Verdict::Refused { code: "approval_denied", reason: said_no(&reason) }
            }
            None => Verdict::Refused {
                code: "approval_unresolved",
                reason: "no decision was given".to_owned(),
            },
        }
    }

    fn nobody(&self, effect: EffectClass) -> Verdict {
        self.found_nobody.store(true, Ordering::Relaxed);
        let hint = match effect {
            EffectClass::WorkspaceWrite => "run again with --yes, or from a terminal",
            _ => "run again from a terminal; --yes does not cover commands",
        };
        let reason = format!("this needs approval and there is no terminal to ask on; {hint}");
        Verdict::Refused { code: "approval_unavailable", reason }
    }

    fn tell(&self, number: u64, descriptor: &ToolDescriptor, verdict: &Verdict) {
        let (approved, reason) = match verdict {
            Verdict::Run => (true, None),
            Verdict::Refused { reason, .. } => (false, Some(reason.clone())),
        };
        let tool = descriptor.definition.name.clone();
        self.show.show(&Event::ApprovalResolved { number, tool, approved, reason });
    }
}

fn said_no(reason: &str) -> String {
    match reason {
        "" => "the user said no".to_owned(),
        reason => format!("the user said no: {reason}"),
    }
}

/// Names exactly what is approved: the tool, its version, and the canonical arguments.
fn call_digest(descriptor: &ToolDescriptor, call: &ToolCall) -> String {
    Digest::of_json(&(&call.name, &descriptor.version, &call.arguments)).to_string()
}

#[cfg(test)]
mod tests;
