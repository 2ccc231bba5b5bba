//! Decides which calls are asked about, and what a decision releases.
//!
//! Knows nothing about who decides. Invariants: a decision is bound to the digest of one exact
//! call; the first one stands; every question that was told is told to be resolved, once.

use std::{sync::Arc, time::Duration};

use runtime_ports::{ApprovalDecision, CommitDisposition};

use crate::{
    ApprovalAnswer, ApprovalRequest, Call, CallResult, Consultation, Event, Machine, Out, Ruling,
    RunError,
    batch::{Approval, Batch, Stage},
    call::approval_digest,
    state::{Ask, Phase, Stop},
};

const NOBODY_IN_TIME: &str = "nobody decided in time";

/// What a decision says of a call.
enum Verdict {
    Released,
    Denied { code: &'static str, reason: String },
}

impl Machine {
    /// What the policy makes of a call that could run.
    pub(crate) fn rule(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        let asked = batch.calls[call].effective().clone();
        let ruling = match self.plan.tool(&asked.name) {
            Some(tool) => self.plan.definition().policy.ruling(tool).clone(),
            None => Ruling::Allow,
        };
        if let Ruling::Deny { reason } = ruling {
            let result = CallResult::failed(&asked, "policy_denied", &reason);
            let result = result.with_commit(CommitDisposition::NotCommitted);
            return self.after(batch, call, result, out);
        }
        let required = ruling == Ruling::Ask;
        let has_provider = self.plan.definition().callbacks.approvals;
        let is_gated = required || has_provider;
        if !is_gated || Self::is_exempt(&asked) || self.is_allowed_for_run(&asked) {
            return self.clear(batch, call, out);
        }
        self.open_approval(batch, call, required);
        match has_provider {
            true => self.consult(batch, call),
            false => self.ask_human(batch, call, out),
        }
    }

    fn is_allowed_for_run(&self, call: &Call) -> bool {
        self.state.allowed.contains(&self.allowance(call))
    }

    fn allowance(&self, call: &Call) -> (Arc<str>, String) {
        let version = self.plan.tool(&call.name).map(|tool| tool.version.clone());
        (Arc::clone(&call.name), version.unwrap_or_default())
    }

    fn open_approval(&mut self, batch: &mut Batch, call: usize, required: bool) {
        let number = self.next_id();
        let lifetime = self.plan.definition().limits.approval_lifetime;
        let lifetime_ms = u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX);
        let digest = self.digest_of(batch.calls[call].effective()).into();
        batch.calls[call].approval = Some(Approval {
            number,
            digest,
            expires_at_ms: self.state.at_ms.saturating_add(lifetime_ms),
            required,
            decision: None,
        });
    }

    fn digest_of(&self, call: &Call) -> String {
        let version = self.plan.tool(&call.name).map_or("", |tool| &tool.version);
        let workspace = self.plan.definition().workspace.as_deref();
        approval_digest(call, &call.arguments, version, workspace).to_string()
    }

    /// Whether what would run is what was approved. True of a call that needed no approval.
    pub(crate) fn approval_holds(&self, batch: &Batch, call: usize) -> bool {
        let state = &batch.calls[call];
        let approval = state.approval.as_ref();
        approval.is_none_or(|approval| *approval.digest == *self.digest_of(state.effective()))
    }

    fn consult(&mut self, batch: &mut Batch, call: usize) {
        batch.calls[call].stage = Stage::Consulting;
        self.ask(Ask::Consult { call });
    }

    fn ask_human(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        batch.calls[call].stage = Stage::Asking;
        self.tell_requested(batch, call, out);
        self.ask(Ask::Approve { call });
    }

    /// The question about a call, as it is put.
    pub(crate) fn approval_request(&self, batch: &Batch, call: usize) -> ApprovalRequest {
        let state = &batch.calls[call];
        let (asked, approval) = (state.effective(), state.approval.as_ref());
        let approval = approval.expect("a call that is asked about has an approval");
        let tool = self.plan.tool(&asked.name).expect("a call that is asked about has a tool");
        let left = Duration::from_millis(approval.expires_at_ms.saturating_sub(self.state.at_ms));
        ApprovalRequest {
            request_id: self.id_text(approval.number),
            cycle: self.state.cycle,
            tool_call_id: Arc::clone(&asked.id),
            tool_name: Arc::clone(&asked.name),
            effect: tool.effect,
            arguments: Arc::clone(&asked.arguments),
            digest: Arc::clone(&approval.digest),
            preview: preview(asked),
            required: approval.required,
            timeout: self.plan.definition().limits.approval_timeout.min(left),
            expires_at_ms: approval.expires_at_ms,
        }
    }

    pub(crate) fn consulted(
        &mut self,
        batch: &mut Batch,
        call: usize,
        word: Consultation,
        out: &mut Out,
    ) {
        let required = batch.calls[call].approval.as_ref().is_some_and(|it| it.required);
        let verdict = match word {
            Consultation::NotNeeded if !required => {
                batch.calls[call].approval = None;
                return self.clear(batch, call, out);
            }
            Consultation::NotNeeded | Consultation::NeedsApproval => {
                return self.ask_human(batch, call, out);
            }
            Consultation::Interrupted if self.is_ending() => return,
            Consultation::Interrupted => return self.consult(batch, call),
            Consultation::Failed { message } => {
                let error = RunError::new("approval_provider_failed", message);
                return self.stop_batch(batch, Stop::Fail(Box::new(error)), out);
            }
            Consultation::Approved => Verdict::Released,
            Consultation::Denied { reason } => denied("approval_denied", reason),
            Consultation::TimedOut { reason } => denied("approval_timeout", reason),
        };
        self.tell_requested(batch, call, out);
        self.conclude(batch, call, verdict, out);
    }

    pub(crate) fn answered(
        &mut self,
        batch: &mut Batch,
        call: usize,
        answer: ApprovalAnswer,
        out: &mut Out,
    ) {
        let verdict = match answer {
            ApprovalAnswer::Decided { .. } if self.has_lapsed(batch, call) => {
                denied("approval_timeout", NOBODY_IN_TIME)
            }
            ApprovalAnswer::Decided { decision } => self.verdict(batch, call, decision),
            ApprovalAnswer::TimedOut => denied("approval_timeout", NOBODY_IN_TIME),
            ApprovalAnswer::Unresolved => denied("approval_unresolved", "no decision was given"),
            ApprovalAnswer::BrokerFailed { message } => denied("approval_broker_error", message),
        };
        self.conclude(batch, call, verdict, out);
    }

    /// A decision of the host, in the place of the answer that was waited for.
    pub(crate) fn take_decision(
        &mut self,
        mut batch: Box<Batch>,
        call: usize,
        decision: ApprovalDecision,
        out: &mut Out,
    ) -> Phase {
        self.withdraw(call, out);
        let verdict = self.verdict(&batch, call, decision);
        self.conclude(&mut batch, call, verdict, out);
        self.run_batch(batch, out)
    }

    /// Keeps a decision that came while the run was suspended: it takes effect on resumption.
    pub(crate) fn keep_decision(
        &mut self,
        mut inner: Box<Phase>,
        call: usize,
        decision: ApprovalDecision,
    ) -> Phase {
        if let Phase::RunningTools(batch) = &mut *inner
            && let Some(approval) = &mut batch.calls[call].approval
        {
            approval.decision = Some(decision);
            self.state.decided.insert(approval.number);
        }
        Phase::Suspended(inner)
    }

    /// Decisions that came while the run was suspended, and questions that lapsed meanwhile.
    pub(crate) fn apply_kept_decisions(&mut self, batch: &mut Batch, out: &mut Out) {
        for call in 0..batch.calls.len() {
            let lapsed = self.has_lapsed(batch, call);
            let state = &mut batch.calls[call];
            let Some(approval) = state.approval.as_mut().filter(|_| state.stage == Stage::Asking)
            else {
                continue;
            };
            let verdict = match approval.decision.take() {
                Some(decision) => self.verdict(batch, call, decision),
                None if lapsed => denied("approval_timeout", NOBODY_IN_TIME),
                None => continue,
            };
            self.withdraw(call, out);
            self.conclude(batch, call, verdict, out);
        }
    }

    /// Whether the time in which the question could be answered at all is over.
    fn has_lapsed(&self, batch: &Batch, call: usize) -> bool {
        let approval = batch.calls[call].approval.as_ref();
        approval.is_some_and(|approval| self.state.at_ms >= approval.expires_at_ms)
    }

    fn verdict(&mut self, batch: &Batch, call: usize, decision: ApprovalDecision) -> Verdict {
        match decision {
            ApprovalDecision::Approved => Verdict::Released,
            ApprovalDecision::ApprovedForRun => {
                let allowance = self.allowance(batch.calls[call].effective());
                self.state.allowed.insert(allowance);
                Verdict::Released
            }
            ApprovalDecision::Denied { reason } => denied("approval_denied", reason),
        }
    }

    fn conclude(&mut self, batch: &mut Batch, call: usize, verdict: Verdict, out: &mut Out) {
        match verdict {
            Verdict::Released => {
                self.tell_resolved(batch, call, None, out);
                // It starts once nothing was found that interrupts the batch.
                batch.calls[call].stage = Stage::Cleared;
                self.check_interruptions(batch, call, out);
            }
            Verdict::Denied { code, reason } => {
                self.tell_resolved(batch, call, Some(code), out);
                let result = CallResult::failed(batch.calls[call].effective(), code, &reason);
                let result = result.with_commit(CommitDisposition::NotCommitted);
                self.after(batch, call, result, out);
            }
        }
    }

    /// A question about a call that is skipped is over.
    pub(crate) fn lapse_approval(
        &mut self,
        batch: &mut Batch,
        call: usize,
        code: &'static str,
        out: &mut Out,
    ) {
        if batch.calls[call].stage == Stage::Asking {
            self.tell_resolved(batch, call, Some(code), out);
        }
    }

    fn tell_requested(&mut self, batch: &Batch, call: usize, out: &mut Out) {
        let request = self.approval_request(batch, call);
        let event = Event::ApprovalRequested {
            request_id: request.request_id,
            tool_call_id: request.tool_call_id,
            tool_name: request.tool_name,
            preview: request.preview,
            digest: request.digest,
        };
        self.tell(event, out);
    }

    fn tell_resolved(
        &mut self,
        batch: &Batch,
        call: usize,
        error_code: Option<&str>,
        out: &mut Out,
    ) {
        let state = &batch.calls[call];
        let Some(approval) = &state.approval else { return };
        self.state.decided.insert(approval.number);
        let event = Event::ApprovalResolved {
            request_id: self.id_text(approval.number),
            tool_call_id: Arc::clone(&state.effective().id),
            tool_name: Arc::clone(&state.effective().name),
            approved: error_code.is_none(),
            error_code: error_code.map(Into::into),
        };
        self.tell(event, out);
    }
}

fn denied(code: &'static str, reason: impl Into<String>) -> Verdict {
    let reason = match reason.into() {
        reason if reason.trim().is_empty() => "the call was denied".to_owned(),
        reason => reason,
    };
    Verdict::Denied { code, reason }
}

/// The whole call in one line: canonical JSON has no line break.
fn preview(call: &Call) -> Arc<str> {
    format!("{} {}", call.short_name(), call.arguments).into()
}
