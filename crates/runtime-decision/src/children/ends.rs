//! Decides what becomes of a run when its children end, and of its children when it ends.
//!
//! Knows ends; refuses to know how children run. Invariants: an end is taken once, in whatever
//! phase; a run tells its own end only when no child of it is at work any more.

use std::sync::Arc;

use runtime_ports::{ModelMessage, ModelRole};

use super::{
    ChildEnd,
    delegating::Delegation,
    reports::{Report, limit_of_each},
    stored_child,
    tasks::{ChildTask, TaskStage, places},
};
use crate::{
    Event, Halt, Machine, Out, RunStatus, Shortage, Spent,
    batch::{Batch, Stage},
    reply::cancelled,
    state::{Ask, Ending, Open, Phase, Standing, Stop},
};

const WITH_ITS_PROCESS: &str = "it was at work when the process was lost";

impl Machine {
    /// A child came to its end, or to a rest.
    pub(crate) fn child_ended(
        &mut self,
        phase: Phase,
        child: usize,
        end: ChildEnd,
        out: &mut Out,
    ) -> Phase {
        let end = match end {
            ChildEnd::Suspended { stored, pending_approvals, used } => {
                match stored_child::checked(&stored).filter(|_| !self.is_stopping(child)) {
                    Some(stored) => {
                        let task = &mut self.children_mut().tasks[child];
                        (task.stored, task.used) = (Some(stored), Some(used));
                        task.asking = pending_approvals;
                        self.ask(Ask::Child { child });
                        return phase;
                    }
                    None => ChildEnd::Suspended { stored, pending_approvals, used },
                }
            }
            end => end,
        };
        let exhausted = exhausted_above(&end);
        self.take_child_end(child, end, out);
        let phase = match exhausted.filter(|_| !matches!(phase, Phase::Closing(_))) {
            Some(shortage) => self.stop(phase, Stop::Budget(shortage), out),
            None => phase,
        };
        self.heed_children(phase, out)
    }

    fn is_stopping(&self, child: usize) -> bool {
        matches!(self.tasks()[child].at, TaskStage::AtWork { stopping: true })
    }

    fn take_child_end(&mut self, child: usize, end: ChildEnd, out: &mut Out) {
        let used = self.children_mut().tasks[child].take_end(end);
        if used != Spent::default() {
            self.spend(&used);
        }
        let task = &self.tasks()[child];
        let Some(end) = task.end() else { return };
        let event = Event::SubRunCompleted {
            tool_call_id: Arc::clone(&task.call),
            sub_run_id: self.id_text(task.run),
            sub_agent_name: Arc::clone(&task.agent),
            status: end.run_status(),
            final_output: end.output(),
        };
        self.tell(event, out);
    }

    /// Goes on where children were waited for.
    pub(crate) fn heed_children(&mut self, phase: Phase, out: &mut Out) -> Phase {
        match phase {
            Phase::RunningTools(mut batch) => {
                self.heed_all(&mut batch, out);
                self.run_batch(batch, out)
            }
            Phase::AwaitingChildren if !self.is_at_work() => self.go_on(out),
            Phase::Closing(ending) if !self.is_at_work() => self.tell_end(*ending, out),
            phase => phase,
        }
    }

    fn is_at_work(&self) -> bool {
        self.tasks().iter().any(ChildTask::is_at_work)
    }

    /// What an answer without calls waits for before the run may end: children at work, or a cycle
    /// that tells the model what those came to that have ended.
    pub(crate) fn await_children(&mut self, out: &mut Out) -> Option<Phase> {
        if self.is_at_limit() {
            return None;
        }
        let is_untold = self.tasks().iter().any(ChildTask::is_untold);
        match self.is_at_work() {
            true if self.state.steering.is_empty() => Some(Phase::AwaitingChildren),
            false if !is_untold => None,
            _ => Some(self.go_on(out)),
        }
    }

    /// Something was said to the run: nobody waits for children any longer.
    pub(crate) fn hear(&mut self, phase: Phase, out: &mut Out) -> Phase {
        match phase {
            Phase::AwaitingChildren if self.state.stop.is_none() => self.go_on(out),
            Phase::RunningTools(mut batch) if self.may_interrupt_waits(&batch) => {
                self.end_waits(&mut batch, "steering", out);
                self.run_batch(batch, out)
            }
            phase => phase,
        }
    }

    fn may_interrupt_waits(&self, batch: &Batch) -> bool {
        let is_heard = self.state.terms.allow_interruption && !self.is_at_limit();
        is_heard && !self.is_ending() && Self::is_waiting(batch)
    }

    /// What children came to that the model was not told, as messages.
    pub(crate) fn untold_ends(&mut self) -> Vec<ModelMessage> {
        let untold = places(self.tasks(), ChildTask::is_untold);
        let limit = limit_of_each(untold.len());
        let message = |place: &usize| {
            let report = Report::of(*place, &self.tasks()[*place], limit);
            ModelMessage::text(ModelRole::User, report.message())
        };
        let messages = untold.iter().map(message).collect();
        untold.iter().for_each(|place| self.children_mut().tasks[*place].tell());
        messages
    }

    /// Tells children at work to stop. Those that are not at work now do not go on.
    pub(crate) fn stop_children(&mut self, out: &mut Out) {
        let mut dropped = Vec::new();
        self.state.open.retain(|open| match open.ask {
            Ask::Child { child } if open.standing != Standing::Asked => {
                dropped.push(child);
                false
            }
            _ => true,
        });
        for child in dropped {
            let task = &mut self.children_mut().tasks[child];
            let (stored, used) = (task.stored.take(), task.used.take().unwrap_or_default());
            let end = match stored {
                Some(stored) => ChildEnd::Suspended { stored, pending_approvals: Vec::new(), used },
                None => ChildEnd::NotStarted { message: "its parent ended first".into() },
            };
            self.take_child_end(child, end, out);
        }
        let at_work = self.state.open.iter().filter_map(|open| match open.ask {
            Ask::Child { child } => Some((open.id, child)),
            _ => None,
        });
        for (id, child) in at_work.collect::<Vec<_>>() {
            if let TaskStage::AtWork { stopping } = &mut self.children_mut().tasks[child].at
                && !std::mem::replace(stopping, true)
            {
                out.halts.push((crate::EffectId(id), Halt::Interrupt));
            }
        }
    }

    /// Ends what calls of a batch wait for, since the run ends: waits at once, what they started
    /// when it has ended, what they say when it was heard.
    pub(crate) fn break_off_delegations(&mut self, batch: &mut Batch, out: &mut Out) {
        self.stop_children(out);
        self.heed_all(batch, out);
        self.end_waits(batch, "stopped", out);
        let (first, end) = batch.group;
        for call in first..end {
            let is_steering = matches!(
                batch.calls[call].delegation.as_deref(),
                Some(Delegation::Steering { .. })
            );
            if is_steering && !self.drop_unsaid(call) {
                continue;
            }
            if is_steering {
                batch.calls[call].take_delegation();
                let result = cancelled(batch.calls[call].effective());
                self.after(batch, call, result, out);
            }
        }
    }

    /// Takes back what was not said yet; whether there was something.
    fn drop_unsaid(&mut self, call: usize) -> bool {
        let before = self.state.open.len();
        let is_unsaid =
            |open: &Open| open.ask == Ask::SteerChild { call } && open.standing != Standing::Asked;
        self.state.open.retain(|open| !is_unsaid(open));
        self.state.open.len() < before
    }

    /// Takes out of the open effects the children that were at work when the process was lost: what
    /// came of them is not known, and they are not run again.
    pub(crate) fn lose_children(&mut self, out: &mut Out) {
        let mut lost = Vec::new();
        self.state.open.retain(|open| match open.ask {
            Ask::Child { child } if open.standing == Standing::Asked => {
                lost.push(child);
                false
            }
            _ => true,
        });
        for child in lost {
            let message = WITH_ITS_PROCESS.into();
            self.take_child_end(child, ChildEnd::Lost { message }, out);
        }
    }

    /// The questions of children, and of runs below them, that can be answered meanwhile.
    pub(crate) fn asked_below(&self) -> impl Iterator<Item = Arc<str>> {
        self.tasks().iter().flat_map(|task| task.asking.iter().cloned())
    }

    /// Whether the call is one of a batch that waits for children in some way.
    pub(crate) fn delegates(batch: &Batch, call: usize) -> bool {
        batch.calls[call].stage == Stage::Running && batch.calls[call].delegation.is_some()
    }

    /// Ends the run once no child is at work.
    pub(crate) fn close(&mut self, ending: Ending, out: &mut Out) -> Phase {
        self.stop_children(out);
        match self.is_at_work() {
            true => Phase::Closing(Box::new(ending)),
            false => self.tell_end(ending, out),
        }
    }

    /// A cancellation goes before everything but a failure, as long as no end was told.
    pub(crate) fn cancel_closing(&mut self, ending: Box<Ending>) -> Phase {
        match ending.status {
            RunStatus::Failed | RunStatus::Cancelled => Phase::Closing(ending),
            _ => Phase::Closing(Box::new(Ending::cancelled())),
        }
    }
}

/// The budget of a run above that ended a child, if one did.
fn exhausted_above(end: &ChildEnd) -> Option<Box<Shortage>> {
    match end {
        ChildEnd::Ended(result) => result.exhausted.clone(),
        _ => None,
    }
}
