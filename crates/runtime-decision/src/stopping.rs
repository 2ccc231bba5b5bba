//! Decides how a run ends early, whatever it was at.
//!
//! Knows one path for all reasons. Invariants: what was started is waited for; what was not is
//! skipped with a result that says so; exactly one terminal event is told, and it is the last.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    EffectId, Event, Halt, Machine, Out, RunError, RunStatus, Shortage,
    batch::{Batch, Stage},
    reply::cancelled,
    state::{Ask, Ending, Phase, Standing, Stop},
};

impl Machine {
    /// Takes a reason to stop. The first stands, but a cancellation goes before a budget.
    pub(crate) fn set_stop(&mut self, stop: Stop) {
        let yields = match &self.state.stop {
            None | Some(Stop::Suspend) => true,
            Some(Stop::Budget(_)) => stop == Stop::Cancel,
            Some(Stop::Fail(_) | Stop::Cancel) => false,
        };
        if yields {
            self.state.stop = Some(stop);
        }
    }

    /// Stops a run for good. One that is stopping already only takes the reason.
    pub(crate) fn stop(&mut self, phase: Phase, stop: Stop, out: &mut Out) -> Phase {
        let is_stopping = self.is_ending();
        self.set_stop(stop);
        match is_stopping {
            true => phase,
            false => self.wind_up(phase, out),
        }
    }

    /// Begins nothing more, tells what is in flight to stop, and ends once nothing is.
    pub(crate) fn wind_up(&mut self, phase: Phase, out: &mut Out) -> Phase {
        self.stop_children(out);
        match phase {
            Phase::AwaitingModel(view) if self.is_out(|ask| ask == Ask::Model) => {
                self.halt_where(|ask| ask == Ask::Model, Halt::Interrupt, out);
                Phase::AwaitingModel(view)
            }
            Phase::Compacting(at) if self.is_out(|ask| ask == Ask::Summary) => {
                self.halt_where(|ask| ask == Ask::Summary, Halt::Interrupt, out);
                Phase::Compacting(at)
            }
            Phase::Reviewing(at) => {
                self.drop_open(out);
                self.accept_reviewed(*at, out)
            }
            Phase::RunningTools(mut batch) => {
                self.break_off(&mut batch, out);
                self.run_batch(batch, out)
            }
            _ => self.end_stopped(out),
        }
    }

    /// Something of the batch failed, and the run with it.
    pub(crate) fn stop_batch(&mut self, batch: &mut Batch, stop: Stop, out: &mut Out) {
        self.set_stop(stop);
        self.break_off(batch, out);
    }

    /// Skips what has not started, tells what has to stop, and lets results that are there stand.
    fn break_off(&mut self, batch: &mut Batch, out: &mut Out) {
        let code = self.stop_code().unwrap_or("skipped_due_to_failure");
        self.drop_where(|ask| matches!(ask, Ask::Interruptions { .. } | Ask::Reserve { .. }), out);
        self.break_off_delegations(batch, out);
        let (first, end) = batch.group;
        for call in first..end {
            self.skip(batch, call, code, out);
            if batch.calls[call].stage == Stage::Running
                && !Self::delegates(batch, call)
                && !self.is_out_for(call)
            {
                self.give_up(batch, call, out);
            }
            if batch.calls[call].stage == Stage::AfterHook {
                self.withdraw(call, out);
                self.settle(batch, call, out);
            }
        }
        let is_at_work = |ask| matches!(ask, Ask::Tool { .. } | Ask::SteerChild { .. });
        self.halt_where(is_at_work, Halt::Interrupt, out);
    }

    fn is_out_for(&self, call: usize) -> bool {
        self.is_out(|ask| ask == Ask::Tool { call })
    }

    /// A tool that was interrupted, and was to run again on resumption, does not.
    fn give_up(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        self.state.open.retain(|open| open.ask != Ask::Tool { call });
        let result = cancelled(batch.calls[call].effective());
        self.after(batch, call, result, out);
    }

    fn is_out(&self, is: impl Fn(Ask) -> bool) -> bool {
        let asked = |standing| standing == Standing::Asked;
        self.state.open.iter().any(|open| is(open.ask) && asked(open.standing))
    }

    /// Tells effects that are being performed what becomes of them.
    pub(crate) fn halt_where(&self, is: impl Fn(Ask) -> bool, halt: Halt, out: &mut Out) {
        let asked = self.state.open.iter().filter(|open| open.standing == Standing::Asked);
        let meant = asked.filter(|open| is(open.ask));
        out.halts.extend(meant.map(|open| (EffectId(open.id), halt)));
    }

    /// Children are waited for: they are never dropped.
    fn drop_open(&mut self, out: &mut Out) {
        self.drop_where(|ask| !ask.is_child(), out);
    }

    fn drop_where(&mut self, is: impl Fn(Ask) -> bool, out: &mut Out) {
        self.halt_where(&is, Halt::Withdraw, out);
        self.state.open.retain(|open| !is(open.ask));
    }

    /// What is said when the live time is over, by the agent's own limit or by the operation's.
    pub(crate) fn time_shortage(&self) -> Shortage {
        let limit = self.plan.definition().limits.wall_time;
        let limit = limit.and_then(|limit| u64::try_from(limit.as_millis()).ok());
        let live = self.state.live_ms;
        Shortage::of_time(limit.map_or(live, |limit| limit.min(live)), live)
    }

    /// Fails a run that has nothing in flight.
    pub(crate) fn fail(&mut self, error: RunError, out: &mut Out) -> Phase {
        self.set_stop(Stop::Fail(Box::new(error)));
        self.end_stopped(out)
    }

    /// Ends for the reason that it stopped for.
    pub(crate) fn end_stopped(&mut self, out: &mut Out) -> Phase {
        let mut shortage = None;
        let (status, error) = match self.state.stop.take() {
            Some(Stop::Fail(error)) => (RunStatus::Failed, *error),
            Some(Stop::Budget(budget)) => {
                let error = RunError::new(&budget.budget.to_string(), budget.to_string());
                shortage = Some(budget);
                (RunStatus::BudgetExhausted, error)
            }
            _ => return self.end(Ending::cancelled(), out),
        };
        self.end(Ending { error: Some(error), shortage, ..Ending::of(status) }, out)
    }

    /// Completes with a text, and with what it means where the agent's answer has a schema.
    pub(crate) fn end_completed(
        &mut self,
        text: Arc<str>,
        answer: Option<Arc<Value>>,
        out: &mut Out,
    ) -> Phase {
        let ending =
            Ending { final_answer: Some(text), answer, ..Ending::of(RunStatus::Completed) };
        self.end(ending, out)
    }

    pub(crate) fn end_waiting(&mut self, reason: Arc<str>, out: &mut Out) -> Phase {
        let ending = Ending { wait_reason: Some(reason), ..Ending::of(RunStatus::WaitUser) };
        self.end(ending, out)
    }

    pub(crate) fn end_at_limit(&mut self, out: &mut Out) -> Phase {
        let limit = self.state.terms.max_cycles;
        let message = format!(
            "the limit of cycles ({limit}) is reached; allow more, or make the task smaller"
        );
        let (error, answer) = (RunError::new("max_cycles", message), self.last_text());
        let ending = Ending {
            final_answer: Some(answer),
            error: Some(error),
            ..Ending::of(RunStatus::MaxCycles)
        };
        self.end(ending, out)
    }

    /// Nothing more is asked for; the end is told once no child is at work.
    fn end(&mut self, ending: Ending, out: &mut Out) -> Phase {
        self.drop_open(out);
        self.release(out);
        self.state.stop = None;
        self.close(ending, out)
    }

    pub(crate) fn tell_end(&mut self, ending: Ending, out: &mut Out) -> Phase {
        self.tell(ending.event(), out);
        Phase::Ended(Box::new(ending))
    }
}

impl Ending {
    /// Of a run that somebody cancelled.
    pub(crate) fn cancelled() -> Self {
        let error = RunError::new("run_cancelled", "the run was cancelled");
        Self { error: Some(error), ..Self::of(RunStatus::Cancelled) }
    }

    /// The terminal event.
    fn event(&self) -> Event {
        let text = |text: &Option<Arc<str>>| text.clone().unwrap_or_default();
        let error = self.error.as_ref();
        let message = error.map(|error| Arc::clone(&error.message)).unwrap_or_default();
        let code = error.map(|error| Arc::clone(&error.code)).unwrap_or_default();
        match self.status {
            RunStatus::Completed => Event::RunCompleted { final_answer: text(&self.final_answer) },
            RunStatus::WaitUser => Event::RunWaitUser { wait_reason: text(&self.wait_reason) },
            RunStatus::MaxCycles => {
                Event::RunMaxCycles { final_answer: text(&self.final_answer), error: message }
            }
            RunStatus::Cancelled => Event::RunCancelled { error: message },
            RunStatus::Failed => Event::RunFailed { error: message, error_code: code },
            RunStatus::BudgetExhausted => Event::BudgetExhausted {
                budget: code,
                error: message,
                limit: self.shortage.as_ref().map_or(0, |it| it.limit),
                used: self.shortage.as_ref().map_or(0, |it| it.used),
            },
        }
    }
}
