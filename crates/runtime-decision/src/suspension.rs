//! Decides how a run waits to be resumed, and how it goes on, in this process or another.
//!
//! Knows nothing about where it is kept meanwhile. Invariants: a suspended run has nothing in
//! flight; what may have happened without a trace is never done again unless it may be.

use std::sync::Arc;

use crate::{
    Event, Halt, Machine, Out,
    batch::{Batch, Stage},
    stages::lost,
    state::{Ask, Phase, Standing, Stop},
};

impl Machine {
    /// Asks for nothing more and lets what is in flight settle.
    pub(crate) fn suspend(&mut self, phase: Phase, out: &mut Out) -> Phase {
        if self.state.stop.is_none() {
            self.state.stop = Some(Stop::Suspend);
            self.halt_where(|ask| !ask.is_wait(), Halt::Settle, out);
        }
        phase
    }

    /// Once only waits are open, the run is suspended.
    pub(crate) fn settle_suspension(&mut self, out: &mut Out) {
        let in_flight =
            |open: &crate::state::Open| open.standing == Standing::Asked && !open.ask.is_wait();
        if self.state.stop != Some(Stop::Suspend) || self.state.open.iter().any(in_flight) {
            return;
        }
        self.halt_where(Ask::is_wait, Halt::Withdraw, out);
        self.state.open.iter_mut().for_each(|open| open.standing = Standing::Held);
        self.state.stop = None;
        let phase = std::mem::replace(&mut self.state.phase, Phase::New);
        let pending_approvals = self.pending_approvals_of(&phase);
        self.state.phase = Phase::Suspended(Box::new(phase));
        self.tell(Event::RunSuspended { pending_approvals }, out);
    }

    fn pending_approvals_of(&self, phase: &Phase) -> Vec<Arc<str>> {
        let Phase::RunningTools(batch) = phase else { return Vec::new() };
        let asking = batch.calls.iter().filter(|call| call.stage == Stage::Asking);
        let undecided = asking.filter_map(|call| call.approval.as_ref());
        undecided
            .filter(|approval| approval.decision.is_none())
            .map(|approval| self.id_text(approval.number))
            .collect()
    }

    /// The questions that wait for a decision.
    #[must_use]
    pub fn pending_approvals(&self) -> Vec<Arc<str>> {
        match &self.state.phase {
            Phase::Suspended(inner) => self.pending_approvals_of(inner),
            phase => self.pending_approvals_of(phase),
        }
    }

    /// Goes on where it was suspended.
    pub(crate) fn resume(&mut self, inner: Phase, out: &mut Out) -> Phase {
        self.tell(Event::RunResumed, out);
        for open in &mut self.state.open {
            open.standing = Standing::Due;
        }
        self.take_up(inner, out)
    }

    /// Goes on with what no outcome is waited for.
    fn take_up(&mut self, phase: Phase, out: &mut Out) -> Phase {
        match phase {
            Phase::BetweenCycles => self.go_on(out),
            Phase::RunningTools(mut batch) => {
                self.apply_kept_decisions(&mut batch, out);
                self.start_what_was_cleared(&mut batch, out);
                self.run_batch(batch, out)
            }
            phase => phase,
        }
    }

    fn start_what_was_cleared(&mut self, batch: &mut Batch, out: &mut Out) {
        for call in 0..batch.calls.len() {
            let asked = Ask::Interruptions { call };
            let waits = self.state.open.iter().any(|open| open.ask == asked);
            if batch.calls[call].stage == Stage::Cleared && !waits {
                self.check_interruptions(batch, call, out);
            }
        }
    }

    pub(crate) fn cancel_suspended(&mut self, inner: Phase, out: &mut Out) -> Phase {
        self.tell(Event::RunResumed, out);
        self.stop(inner, Stop::Cancel, out)
    }

    /// Goes on after the process was lost: what was in flight has no outcome and never will.
    pub(crate) fn reopen(&mut self, phase: Phase, out: &mut Out) -> Phase {
        self.tell(Event::RunResumed, out);
        if self.state.stop == Some(Stop::Suspend) {
            self.state.stop = None;
        }
        let open = std::mem::take(&mut self.state.open);
        let mut phase = phase;
        for mut entry in open {
            let was_out = entry.standing == Standing::Asked;
            entry.standing = Standing::Due;
            match entry.ask {
                // Sent again under another name: the request may have been accepted.
                Ask::Model if was_out => self.ask(Ask::Model),
                Ask::Hook { hook, .. } if was_out && !self.is_repeatable(hook) => {
                    let error = self.hook_error(hook, &crate::HookVerdict::Interrupted);
                    self.set_stop(Stop::Fail(Box::new(error)));
                    self.state.open.push(entry);
                }
                Ask::Tool { call } if was_out => phase = self.reopen_tool(phase, entry, call, out),
                _ => self.state.open.push(entry),
            }
        }
        self.finish_reopening(phase, out)
    }

    fn reopen_tool(
        &mut self,
        phase: Phase,
        entry: crate::state::Open,
        call: usize,
        out: &mut Out,
    ) -> Phase {
        let Phase::RunningTools(mut batch) = phase else { return phase };
        let ran = batch.calls[call].effective().clone();
        match self.may_run_again(&ran) && !self.is_ending() {
            true => self.state.open.push(entry),
            false => self.after(&mut batch, call, lost(&ran), out),
        }
        Phase::RunningTools(batch)
    }

    fn finish_reopening(&mut self, phase: Phase, out: &mut Out) -> Phase {
        match self.state.stop.clone() {
            Some(stop) => self.stop(phase, stop, out),
            None => self.take_up(phase, out),
        }
    }
}

/// Why a stored run cannot be taken up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It is no stored run, or it is damaged.
    #[error("this is no stored run, or it is damaged: {reason}")]
    Malformed {
        /// What was found.
        reason: String,
    },
    /// It was stored by another version of the runtime.
    #[error("the run was stored in version {found}, and this runtime reads version {known}")]
    Version {
        /// Version that was found.
        found: u64,
        /// Version that can be read.
        known: u64,
    },
    /// It belongs to another agent, or to another version of it.
    #[error(
        "the run belongs to definition {found}, not to {offered}; load it with the one it began with"
    )]
    OtherDefinition {
        /// Digest that the run was stored with.
        found: String,
        /// Digest of the definition that was offered.
        offered: String,
    },
}

impl LoadError {
    pub(crate) fn malformed(reason: impl std::fmt::Display) -> Self {
        Self::Malformed { reason: reason.to_string() }
    }
}
