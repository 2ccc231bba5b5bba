//! Decides what a model learns of its sub-tasks while they are at work, and what it can say to them.
//!
//! Knows how tasks stand; refuses to know how they run. Invariant: a wait ends at its time at the
//! latest, counted from the call, whatever happened meanwhile.

use std::{sync::Arc, time::Duration};

use super::{
    delegating::Delegation,
    reports::{Refusal, Report, limit_of_each, standing_result},
    tasks::{places, task_id},
};
use crate::{
    Call, CallResult, Effect, Machine, Out,
    batch::{Batch, Stage},
    state::Ask,
};

impl Machine {
    /// Tells at once how tasks stand.
    pub(super) fn tell_standing(
        &mut self,
        batch: &mut Batch,
        call: usize,
        named: Option<Vec<String>>,
        out: &mut Out,
    ) {
        let asked = batch.calls[call].effective().clone();
        let result = match self.named_tasks(named) {
            Ok(tasks) => self.standing(&asked, &tasks, None),
            Err(refusal) => refusal.result(&asked),
        };
        self.after(batch, call, result, out);
    }

    /// The places of the tasks that are named; of all, when none is.
    fn named_tasks(&self, named: Option<Vec<String>>) -> Result<Vec<usize>, Refusal> {
        let Some(named) = named else { return Ok((0..self.tasks().len()).collect()) };
        let mut tasks =
            named.iter().map(|id| self.known_task(id)).collect::<Result<Vec<_>, _>>()?;
        tasks.sort_unstable();
        tasks.dedup();
        Ok(tasks)
    }

    /// The result of a call that asks how tasks stand. What it tells of an end is told by it.
    fn standing(&mut self, asked: &Call, tasks: &[usize], ended_by: Option<&str>) -> CallResult {
        let untold = tasks.iter().filter(|place| self.tasks()[**place].is_untold()).count();
        let limit = limit_of_each(untold);
        let report = |place: &usize| Report::of(*place, &self.tasks()[*place], limit);
        let result = standing_result(asked, tasks.iter().map(report).collect(), ended_by);
        tasks.iter().for_each(|place| self.children_mut().tasks[*place].tell());
        result
    }

    /// Waits for tasks that are named; for all that are at work or were not told, when none is.
    pub(super) fn begin_wait(
        &mut self,
        batch: &mut Batch,
        call: usize,
        named: Option<Vec<String>>,
        timeout_ms: u64,
        out: &mut Out,
    ) {
        let found = match named {
            Some(_) => self.named_tasks(named),
            None => Ok(places(self.tasks(), |task| task.is_at_work() || task.is_untold())),
        };
        let tasks = match found {
            Ok(tasks) => tasks,
            Err(refusal) => {
                let result = refusal.result(batch.calls[call].effective());
                return self.after(batch, call, result, out);
            }
        };
        let must_wait = self.is_any_at_work(&tasks);
        let until_ms = self.state.at_ms.saturating_add(timeout_ms);
        batch.calls[call].delegation = Some(Box::new(Delegation::Waiting { tasks, until_ms }));
        match must_wait {
            true => self.ask(Ask::WaitChildren { call }),
            false => self.end_wait(batch, call, "all_ended", out),
        }
    }

    pub(super) fn is_any_at_work(&self, tasks: &[usize]) -> bool {
        tasks.iter().any(|place| self.tasks()[*place].is_at_work())
    }

    /// The effect that lets the rest of a wait pass.
    pub(crate) fn rest_of_wait(&self, delegation: Option<&Delegation>) -> Effect {
        let Some(Delegation::Waiting { until_ms, .. }) = delegation else {
            panic!("a wait has its end")
        };
        let left = until_ms.saturating_sub(self.state.at_ms);
        Effect::WaitChildren { timeout: Duration::from_millis(left) }
    }

    /// The time of a wait is over.
    pub(crate) fn wait_over(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        self.end_wait(batch, call, "timeout", out);
    }

    pub(super) fn end_wait(
        &mut self,
        batch: &mut Batch,
        call: usize,
        ended_by: &str,
        out: &mut Out,
    ) {
        let Some(delegation) = batch.calls[call].take_delegation() else { return };
        let Delegation::Waiting { tasks, .. } = *delegation else { return };
        self.withdraw(call, out);
        let asked = batch.calls[call].effective().clone();
        let result = self.standing(&asked, &tasks, Some(ended_by));
        self.after(batch, call, result, out);
    }

    /// Ends the waits of a batch for a reason.
    pub(super) fn end_waits(&mut self, batch: &mut Batch, ended_by: &str, out: &mut Out) {
        let (first, end) = batch.group;
        for call in first..end {
            if let Some(Delegation::Waiting { .. }) = batch.calls[call].delegation.as_deref() {
                self.end_wait(batch, call, ended_by, out);
            }
        }
    }

    /// Says something to a task that is at work.
    pub(super) fn steer_task(
        &mut self,
        batch: &mut Batch,
        call: usize,
        id: &str,
        message: Arc<str>,
        out: &mut Out,
    ) {
        let found = self.known_task(id).and_then(|task| match self.tasks()[task].is_at_work() {
            true => Ok(task),
            false => {
                let error = "the sub-task has ended, go on with it by continue_sub_task";
                Err(Refusal::new("sub_task_ended", error))
            }
        });
        match found {
            Ok(task) => {
                let steering = Delegation::Steering { task, message };
                batch.calls[call].delegation = Some(Box::new(steering));
                self.ask(Ask::SteerChild { call });
            }
            Err(refusal) => {
                let result = refusal.result(batch.calls[call].effective());
                self.after(batch, call, result, out);
            }
        }
    }

    /// The effect that says something to a task.
    pub(crate) fn steering_of(&self, delegation: Option<&Delegation>) -> Effect {
        let Some(Delegation::Steering { task, message }) = delegation else {
            panic!("steering has its message")
        };
        Effect::SteerChild { task_id: task_id(*task), prompt: Arc::clone(message) }
    }

    /// A task has heard, or has not.
    pub(crate) fn task_steered(
        &mut self,
        batch: &mut Batch,
        call: usize,
        heard: Result<(), String>,
        out: &mut Out,
    ) {
        let Some(delegation) = batch.calls[call].take_delegation() else { return };
        let Delegation::Steering { task, .. } = *delegation else { return };
        let asked = batch.calls[call].effective().clone();
        let result = match heard {
            Ok(()) => {
                let report = Report::heard(task, &self.tasks()[task]);
                report.result(&asked, None)
            }
            Err(why) => {
                let error = format!("the sub-task did not hear it: {why}");
                Refusal::new("sub_task_not_steered", error).result(&asked)
            }
        };
        self.after(batch, call, result, out);
    }

    /// Whether a call of the batch waits for tasks.
    pub(super) fn is_waiting(batch: &Batch) -> bool {
        let waits = |delegation: &Delegation| matches!(delegation, Delegation::Waiting { .. });
        let mut calls = batch.in_group().iter().filter(|call| call.stage == Stage::Running);
        calls.any(|call| call.delegation.as_deref().is_some_and(waits))
    }
}
