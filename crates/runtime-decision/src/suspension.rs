//! Decides how a run waits to be resumed, and how it goes on, in this process or another.
//!
//! Knows nothing about where it is kept meanwhile. Invariants: a suspended run has nothing in
//! flight; what may have happened without a trace is never done again unless it may be.

use std::sync::Arc;

use crate::{
    Event, Halt, HookVerdict, Machine, Out,
    batch::{Batch, Stage},
    reply::outcome_lost,
    spending::Spending,
    state::{Ask, Open, Phase, Standing, Stop},
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
        let in_flight = |open: &Open| open.standing == Standing::Asked && !open.ask.is_wait();
        if self.state.stop != Some(Stop::Suspend) || self.state.open.iter().any(in_flight) {
            return;
        }
        self.halt_where(Ask::is_wait, Halt::Withdraw, out);
        self.state.open.iter_mut().for_each(|open| open.standing = Standing::Held);
        self.state.stop = None;
        let phase = std::mem::replace(&mut self.state.phase, Phase::New);
        let mut pending_approvals = self.pending_approvals_of(&phase);
        pending_approvals.extend(self.asked_below());
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

    /// The questions that wait for a decision: its own, and those of children that are suspended
    /// with it.
    #[must_use]
    pub fn pending_approvals(&self) -> Vec<Arc<str>> {
        let mut asked = match &self.state.phase {
            Phase::Suspended(inner) => self.pending_approvals_of(inner),
            phase => self.pending_approvals_of(phase),
        };
        asked.extend(self.asked_below());
        asked
    }

    /// Whether it is a question that was decided while the run was suspended.
    pub(crate) fn is_decided(&self, ask: Ask) -> bool {
        let Ask::Approve { call } = ask else { return false };
        let call = self.batch().and_then(|batch| batch.calls.get(call));
        call.and_then(|call| call.approval.as_ref()).is_some_and(|it| it.decision.is_some())
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
            Phase::AwaitingChildren if !self.state.steering.is_empty() => self.go_on(out),
            Phase::RunningTools(mut batch) => {
                self.apply_kept_decisions(&mut batch, out);
                self.hear_what_was_said(&mut batch, out);
                self.start_what_was_cleared(&mut batch, out);
                self.run_batch(batch, out)
            }
            phase => self.heed_children(phase, out),
        }
    }

    /// What was said while nothing ran is heard before anything more is started.
    fn hear_what_was_said(&mut self, batch: &mut Batch, out: &mut Out) {
        let last = batch.calls.iter().rposition(|call| call.stage == Stage::Done);
        if let Some(call) = last.filter(|_| !self.state.steering.is_empty())
            && !self.is_checking_after(call)
        {
            self.check_interruptions(batch, call, out);
        }
    }

    fn start_what_was_cleared(&mut self, batch: &mut Batch, out: &mut Out) {
        for call in 0..batch.calls.len() {
            if batch.calls[call].stage == Stage::Cleared && !self.is_checking_after(call) {
                self.check_interruptions(batch, call, out);
            }
        }
    }

    fn is_checking_after(&self, call: usize) -> bool {
        self.state.open.iter().any(|open| open.ask == Ask::Interruptions { call })
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
        self.give_up_hooks();
        let lost = self.take_lost_tools(&phase);
        self.lose_children(out);
        self.send_again(out);
        match phase {
            Phase::RunningTools(mut batch) => {
                self.settle_lost(&mut batch, &lost, out);
                self.heed_all(&mut batch, out);
                self.go_on_or_wind_up(Phase::RunningTools(batch), out)
            }
            phase => self.go_on_or_wind_up(phase, out),
        }
    }

    /// What was in flight and may be asked for again is.
    fn send_again(&mut self, out: &mut Out) {
        for place in 0..self.state.open.len() {
            let Open { ask, standing, .. } = self.state.open[place];
            self.state.open[place].standing = Standing::Due;
            // Sent again under another name: the request may have been accepted.
            let spending = match ask {
                Ask::Model => Spending::Model,
                Ask::Summary => Spending::Summary,
                _ => continue,
            };
            if standing == Standing::Asked {
                self.state.open[place].id = self.next_id();
                self.state.ledger.interrupted(self.state.cycle);
                self.state.open[place].ask = self.charge_lost(spending, out);
            }
        }
    }

    /// A hook that was at work and may not run twice fails the run.
    fn give_up_hooks(&mut self) {
        let at_work = |open: &&Open| open.standing == Standing::Asked;
        let hooks = self.state.open.iter().filter(at_work).filter_map(|open| match open.ask {
            Ask::Hook { hook, .. } if !self.is_repeatable(hook) => Some(hook),
            _ => None,
        });
        if let Some(hook) = hooks.min() {
            let error = self.hook_error(hook, &HookVerdict::Interrupted);
            self.set_stop(Stop::Fail(Box::new(error)));
        }
    }

    /// Takes out of the open effects the tools that were at work and may not run again.
    fn take_lost_tools(&mut self, phase: &Phase) -> Vec<usize> {
        let Phase::RunningTools(batch) = phase else { return Vec::new() };
        let mut lost = Vec::new();
        for open in &self.state.open {
            if let (Ask::Tool { call } | Ask::SteerChild { call }, Standing::Asked) =
                (open.ask, open.standing)
                && (self.is_ending() || !self.may_run_again(batch.calls[call].effective()))
            {
                lost.push(call);
            }
        }
        let is_lost = |ask: Ask| {
            let at_work = matches!(ask, Ask::Tool { .. } | Ask::SteerChild { .. });
            at_work && ask.call().is_some_and(|call| lost.contains(&call))
        };
        self.state.open.retain(|open| !is_lost(open.ask));
        lost
    }

    fn settle_lost(&mut self, batch: &mut Batch, lost: &[usize], out: &mut Out) {
        for call in lost {
            batch.calls[*call].delegation = None;
            let result = outcome_lost(batch.calls[*call].effective());
            self.after(batch, *call, result, out);
        }
    }

    fn go_on_or_wind_up(&mut self, phase: Phase, out: &mut Out) -> Phase {
        match self.is_ending() {
            true => self.wind_up(phase, out),
            false => self.take_up(phase, out),
        }
    }
}
