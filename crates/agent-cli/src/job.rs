//! Decides how a task is worked on: run after run of one session, until one ends that asks for
//! nothing more, within the limits of the command.
//!
//! Knows the agent that the command makes. Refuses to know how a run is shown or a question put.
//! Invariant: the runs of a job share its limits; only the time that a person takes to answer the
//! question of a run that has ended is not counted.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use runtime_kernel::engine::{Agent, RunOptions, RunResult, RunStatus, Task};
use runtime_ports::{
    InteractionRequest, InteractionSession, OperationContext, ToolDirective, ToolWorld,
};
use standard_tools::standard_tools;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::{
    approval::{Announced, Attendance, Person, policy},
    composition::{Receipts, Served},
    diagnosis::Diagnosis,
    live::{Audience, Live, Lived},
    places::user,
    question::question,
    show::Show,
    terminal::TerminalInteraction,
    time_limit::LONGEST,
    told::Told,
};

/// Asks once more when a model ends a run without a word.
const ASK_FOR_ANSWER: &str = "Give the final answer to the task now, in a few sentences.";

/// A task and all that is needed to do it.
pub(crate) struct Job {
    pub(crate) session_id: Uuid,
    /// Cancelled when the person stops the job.
    pub(crate) operation: OperationContext,
    pub(crate) served: Served,
    pub(crate) world: ToolWorld,
    pub(crate) folder: String,
    pub(crate) instructions: String,
    pub(crate) allow_writes: bool,
    pub(crate) terminal: TerminalInteraction,
    pub(crate) receipts: Arc<Receipts>,
    pub(crate) announced: Announced,
    pub(crate) show: Arc<dyn Show>,
    pub(crate) left: Left,
}

/// What the runs of a job may still use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    pub(crate) cycles: u32,
    pub(crate) time: Duration,
    /// Whether a model that said nothing is asked once more.
    pub(crate) asks_again: bool,
}

impl Job {
    /// Works on the task. Lines that come on `said` steer.
    ///
    /// # Errors
    /// The agent cannot be made.
    pub(crate) async fn carry_out(
        &mut self,
        task: String,
        said: &mut mpsc::Receiver<String>,
    ) -> Result<Lived, Diagnosis> {
        let (mut task, mut returned) = (Task::new(task), Vec::new());
        loop {
            let mut lived = self.run(task, said).await?;
            returned.append(&mut lived.returned);
            let Some(next) = self.next_task(&lived).await else {
                return Ok(Lived { returned, ..lived });
            };
            if let Some(last) = &lived.last {
                self.show.show(Told::Happened(last));
            }
            task = next;
        }
    }

    async fn run(
        &mut self,
        task: Task,
        said: &mut mpsc::Receiver<String>,
    ) -> Result<Lived, Diagnosis> {
        let id = Uuid::new_v4();
        let agent = self.agent(id)?;
        let options = RunOptions::default().run_id(id.to_string());
        let options = options.session_id(self.session_id.to_string());
        let audience = Audience {
            show: Arc::clone(&self.show),
            receipts: Arc::clone(&self.receipts),
            announced: self.announced.clone(),
        };
        let live = Live::start(&agent, task, options, audience);
        let lived = live.follow(said, &self.operation.cancellation).await;
        self.left.spend(&lived);
        Ok(lived)
    }

    fn agent(&self, run_id: Uuid) -> Result<Agent, Diagnosis> {
        let model = self.served.router.session(user(), Some(run_id));
        let (terminal, announced) = (self.terminal.clone(), self.announced.clone());
        let person = Person { terminal, announced };
        let builder = Agent::builder("agent", model, self.served.model.as_str())
            .instructions(self.instructions.as_str())
            .tools(standard_tools())
            .world(self.world.clone())
            .workspace(self.folder.as_str())
            .policy(policy(self.allow_writes))
            .approvals(Attendance(self.terminal.clone()))
            .interaction(Arc::new(person))
            .approval_prompt(question)
            .approval_timeout(LONGEST)
            .max_cycles(self.left.cycles)
            .wall_time(self.left.time);
        // A question that nobody hears would be the end of the work.
        let builder = match self.terminal.is_attended() {
            true => builder,
            false => builder.without_ask_user(),
        };
        let agent = builder.build().context("the agent cannot be made");
        agent.map_err(|error| Diagnosis::configuration(&error))
    }

    /// What is to be done after a run that is over, if anything.
    async fn next_task(&mut self, lived: &Lived) -> Option<Task> {
        let result = lived.result.as_deref()?;
        if self.left.cycles == 0 || self.operation.cancellation.is_cancelled() {
            return None;
        }
        let is_empty = result.error.as_ref().is_some_and(|error| &*error.code == "model_empty");
        let prompt = match result.status {
            RunStatus::WaitUser => self.ask(result).await?,
            RunStatus::Failed if is_empty && self.left.asks_again => {
                self.left.asks_again = false;
                ASK_FOR_ANSWER.to_owned()
            }
            _ => return None,
        };
        Some(Task::new(prompt).after(result.history.messages().cloned().collect()))
    }

    /// The answer of the person to what the run asked; none when they give none.
    async fn ask(&self, result: &RunResult) -> Option<String> {
        if !self.terminal.is_attended() {
            return None;
        }
        let request = InteractionRequest::question(format!("ask-{}", result.run_id), asked(result));
        let response = self.terminal.request(&self.operation, request).await.ok()?;
        Some(response.text).filter(|text| !text.trim().is_empty())
    }
}

/// The question of a run, with the answers that it offers.
fn asked(result: &RunResult) -> String {
    let mut text = result.wait_reason.as_deref().unwrap_or_default().to_owned();
    let results = result.cycles.last().map(|cycle| &cycle.tool_results[..]).unwrap_or_default();
    let waits = results.iter().find(|result| result.directive == ToolDirective::WaitUser);
    let choices = waits.and_then(|result| result.metadata.as_ref()?.get("choices")?.as_array());
    for choice in choices.into_iter().flatten().filter_map(serde_json::Value::as_str) {
        text.push_str(&format!("\n  - {choice}"));
    }
    text
}

impl Left {
    fn spend(&mut self, lived: &Lived) {
        let cycles = lived.result.as_ref().map_or(0, |result| result.cycles.len());
        self.cycles = self.cycles.saturating_sub(u32::try_from(cycles).unwrap_or(u32::MAX));
        // A run that used up everything has ended for it.
        self.time = self.time.saturating_sub(lived.took).max(Duration::from_millis(1));
    }
}
