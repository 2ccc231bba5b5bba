//! Decides what a call that delegates brings about, and when it has its result.
//!
//! Knows how many children a run may have; refuses to know what they do. Invariant: a task is
//! started only within the limits of its run, under an id that no other run has.

use std::sync::Arc;

use runtime_ports::{CommitDisposition, Transcript};
use serde::{Deserialize, Serialize};

use super::{
    ChildWork, Children, DelegationTool,
    reports::{Refusal, Report, batch_result, commit_of, limit_of_each},
    tasks::{ChildTask, TaskStage, place_of, task_id},
    wishes::{Order, Wish},
};
use crate::{
    CallResult, Event, Machine, Out,
    batch::{Batch, CallState, Stage},
    reply::not_committed,
    state::Ask,
    wording::bounded,
};

/// Longest id of a task that is repeated to the model, which may have made it up.
const MAX_ID_BYTES: usize = 40;

/// What a call that delegates waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Delegation {
    /// For the ends of what it started.
    Started {
        /// In the order of its tasks.
        parts: Vec<Part>,
        /// Whether it asked for several.
        is_batch: bool,
    },
    /// For the ends of these tasks, or for its time to be over.
    Waiting {
        /// Places of the tasks.
        tasks: Vec<usize>,
        /// In Unix milliseconds.
        until_ms: u64,
    },
    /// For a task to hear of something.
    Steering {
        /// Place of the task.
        task: usize,
        /// What it is told.
        message: Arc<str>,
    },
}

/// One task of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Part {
    /// It was started.
    Started {
        /// Place of the task.
        task: usize,
    },
    /// It was not.
    Refused { agent: Arc<str>, refusal: Refusal },
}

impl Machine {
    /// The tasks that the run delegated, oldest first.
    pub(crate) fn tasks(&self) -> &[ChildTask] {
        self.state.children.as_deref().map_or(&[], |children| &children.tasks)
    }

    pub(super) fn children_mut(&mut self) -> &mut Children {
        self.state.children.get_or_insert_with(Box::default)
    }

    /// The tool of the engine's own that has this name, if the run has any.
    pub(crate) fn delegation_tool(&self, name: &str) -> Option<DelegationTool> {
        DelegationTool::of(name).filter(|_| !self.plan.delegation_tools().is_empty())
    }

    /// Does what a call that may run asks for.
    pub(crate) fn delegate(
        &mut self,
        batch: &mut Batch,
        call: usize,
        tool: DelegationTool,
        out: &mut Out,
    ) {
        let asked = batch.calls[call].effective().clone();
        match Wish::read(tool, &asked.arguments) {
            Ok(Wish::Create { orders, is_batch, background }) => {
                let parts = self.start_all(orders, &asked.id, background, out);
                let is_started = |part: &&Part| matches!(part, Part::Started { .. });
                batch.spawned += parts.iter().filter(is_started).count() as u64;
                self.wait_for(batch, call, Delegation::Started { parts, is_batch }, out);
            }
            Ok(Wish::Continue { task, message }) => {
                match self.continued(&task, message, &asked.id, out) {
                    Ok(task) => {
                        batch.spawned += 1;
                        let parts = vec![Part::Started { task }];
                        let started = Delegation::Started { parts, is_batch: false };
                        self.wait_for(batch, call, started, out);
                    }
                    Err(refusal) => self.after(batch, call, refusal.result(&asked), out),
                }
            }
            Ok(Wish::Status { tasks }) => self.tell_standing(batch, call, tasks, out),
            Ok(Wish::Wait { tasks, timeout_ms }) => {
                self.begin_wait(batch, call, tasks, timeout_ms, out);
            }
            Ok(Wish::Steer { task, message }) => self.steer_task(batch, call, &task, message, out),
            Err(expected) => {
                let error = format!("the arguments {expected}");
                let result = CallResult::failed(&asked, "invalid_arguments_type", &error);
                self.after(batch, call, not_committed(result), out);
            }
        }
    }

    fn wait_for(&mut self, batch: &mut Batch, call: usize, delegation: Delegation, out: &mut Out) {
        batch.calls[call].delegation = Some(Box::new(delegation));
        self.heed(batch, call, out);
    }

    fn start_all(
        &mut self,
        orders: Vec<Order>,
        call: &Arc<str>,
        background: bool,
        out: &mut Out,
    ) -> Vec<Part> {
        let mut start = |order: Order| match self.refusal(&order.agent_name) {
            Some(refusal) => Part::Refused { agent: order.agent_name, refusal },
            None => {
                let task = ChildTask {
                    agent: order.agent_name,
                    prompt: order.task_description,
                    run: 0,
                    call: Arc::clone(call),
                    background,
                    history: Transcript::new(),
                    stored: None,
                    asking: Vec::new(),
                    used: None,
                    at: TaskStage::AtWork { stopping: false },
                };
                self.children_mut().tasks.push(task);
                let task = self.tasks().len() - 1;
                self.start_run(task, out);
                Part::Started { task }
            }
        };
        orders.into_iter().map(&mut start).collect()
    }

    /// Why no run of this agent can be started now.
    fn refusal(&self, agent: &str) -> Option<Refusal> {
        let definition = self.plan.definition();
        let agents = &definition.sub_agents;
        if !agents.iter().any(|declared| *declared.name == *agent) {
            let names: Vec<_> = agents.iter().map(|declared| &*declared.name).collect();
            let error = format!("there is no such sub-agent, take one of: {}", names.join(", "));
            return Some(Refusal::new("unknown_sub_agent", error));
        }
        let limits = definition.delegation;
        let at_work = self.tasks().iter().filter(|task| task.is_at_work()).count();
        let started = self.state.children.as_ref().map_or(0, |children| children.started);
        let error = if self.state.terms.depth >= limits.max_depth {
            format!("sub-tasks may be {} deep, do it yourself", limits.max_depth)
        } else if at_work >= limits.max_running {
            format!("{} sub-tasks are at work, wait for one of them to end", limits.max_running)
        } else if started >= limits.max_total {
            format!("all {} sub-tasks of this run were used, do it yourself", limits.max_total)
        } else {
            return None;
        };
        Some(Refusal::new("sub_task_limit", error))
    }

    /// Goes on with a task that is over; gives its place.
    fn continued(
        &mut self,
        id: &str,
        message: Arc<str>,
        call: &Arc<str>,
        out: &mut Out,
    ) -> Result<usize, Refusal> {
        let place = self.known_task(id)?;
        let task = &self.tasks()[place];
        let error = match &task.at {
            TaskStage::AtWork { .. } => {
                Some(("sub_task_running", "the sub-task is at work, say it with steer_sub_task"))
            }
            TaskStage::Over { told: false, .. } => {
                Some(("sub_task_untold", "what it came to was not told yet, ask sub_task_status"))
            }
            TaskStage::Over { .. } if task.history.is_empty() => {
                Some(("sub_task_lost", "what the sub-task knew is lost, start another"))
            }
            TaskStage::Over { .. } => None,
        };
        let refusal = error.map(|(code, error)| Refusal::new(code, error));
        match refusal.or_else(|| self.refusal(&task.agent)) {
            Some(refusal) => Err(refusal),
            None => {
                let task = &mut self.children_mut().tasks[place];
                (task.prompt, task.call, task.background) = (message, Arc::clone(call), false);
                task.at = TaskStage::AtWork { stopping: false };
                self.start_run(place, out);
                Ok(place)
            }
        }
    }

    /// Place of a task that the model names.
    pub(super) fn known_task(&self, id: &str) -> Result<usize, Refusal> {
        place_of(self.tasks(), id).ok_or_else(|| {
            let id = bounded(id, MAX_ID_BYTES);
            let error = format!("there is no sub-task {id}, sub_task_status tells which there are");
            Refusal::new("unknown_sub_task", error)
        })
    }

    fn start_run(&mut self, task: usize, out: &mut Out) {
        let run = self.next_id();
        let children = self.children_mut();
        children.started += 1;
        children.tasks[task].run = run;
        let started = &self.tasks()[task];
        let event = Event::SubRunStarted {
            tool_call_id: Arc::clone(&started.call),
            sub_run_id: self.id_text(run),
            sub_agent_name: Arc::clone(&started.agent),
            task_id_hint: task_id(task),
            background: started.background,
        };
        self.tell(event, out);
        self.ask(Ask::Child { child: task });
    }

    /// The effect that runs a child, or goes on with it.
    pub(crate) fn child_work(&self, place: usize) -> ChildWork {
        let task = &self.tasks()[place];
        ChildWork {
            run_id: self.id_text(task.run),
            task_id: task_id(place),
            agent: Arc::clone(&task.agent),
            prompt: Arc::clone(&task.prompt),
            history: task.history.clone(),
            parent_tool_call_id: Arc::clone(&task.call),
            depth: self.state.terms.depth.saturating_add(1),
            budgeted: self.state.terms.budgeted,
            native_multimodal: self.state.terms.native_multimodal,
            stored: task.stored.clone(),
        }
    }

    /// Gives the calls their results that have nothing more to wait for.
    pub(crate) fn heed_all(&mut self, batch: &mut Batch, out: &mut Out) {
        let (first, end) = batch.group;
        (first..end).for_each(|call| self.heed(batch, call, out));
    }

    fn heed(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        match batch.calls[call].delegation.as_deref() {
            Some(Delegation::Started { parts, .. }) if !self.is_open(parts) => {
                self.end_started(batch, call, out);
            }
            Some(Delegation::Waiting { tasks, .. }) if !self.is_any_at_work(tasks) => {
                self.end_wait(batch, call, "all_ended", out);
            }
            _ => {}
        }
    }

    /// Whether the call that started these still waits for one of them.
    fn is_open(&self, parts: &[Part]) -> bool {
        let tasks = self.tasks();
        parts.iter().any(|part| match part {
            Part::Started { task } => tasks[*task].is_at_work() && !tasks[*task].background,
            Part::Refused { .. } => false,
        })
    }

    fn end_started(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        let Some(delegation) = batch.calls[call].take_delegation() else { return };
        let Delegation::Started { parts, is_batch } = *delegation else { return };
        let result = self.started_result(&batch.calls[call], &parts, is_batch);
        for part in &parts {
            if let Part::Started { task } = part {
                self.children_mut().tasks[*task].tell();
            }
        }
        self.after(batch, call, result, out);
    }

    fn started_result(&self, call: &CallState, parts: &[Part], is_batch: bool) -> CallResult {
        let (asked, limit) = (call.effective(), limit_of_each(parts.len()));
        let tasks = self.tasks();
        let report = |part| match part {
            &Part::Started { task } => Report::of(task, &tasks[task], limit),
            Part::Refused { agent, refusal } => Report::refused(agent, refusal),
        };
        let commit = commit_of_all(parts.iter().map(|part| match part {
            Part::Started { task } => commit_of(&tasks[*task]),
            Part::Refused { .. } => Some(CommitDisposition::NotCommitted),
        }));
        let mut reports: Vec<_> = parts.iter().map(report).collect();
        match reports.pop() {
            Some(only) if !is_batch => only.result(asked, commit),
            last => batch_result(asked, reports.into_iter().chain(last).collect(), commit),
        }
    }
}

impl CallState {
    /// What the call waited for, if it waits no more.
    pub(super) fn take_delegation(&mut self) -> Option<Box<Delegation>> {
        debug_assert_eq!(self.stage, Stage::Running, "only a call that runs delegates");
        self.delegation.take()
    }
}

/// What is known of all together: unknown when one is, not committed when all are not.
fn commit_of_all(
    commits: impl Iterator<Item = Option<CommitDisposition>>,
) -> Option<CommitDisposition> {
    let commits: Vec<_> = commits.collect();
    let unknown = Some(CommitDisposition::Unknown);
    if commits.contains(&unknown) {
        return unknown;
    }
    let not_committed = Some(CommitDisposition::NotCommitted);
    commits.iter().all(|commit| *commit == not_committed).then_some(not_committed).flatten()
}
