//! Decides how a task is worked on: run after run of one session, until one ends that asks for
//! nothing more, within limits.
//!
//! Refuses to know what an agent is made of, and how a run is shown or a question put. Invariant:
//! the runs of a job share its limits; only the time that a person takes to answer the question of
//! a run that has ended is not counted.

use std::time::Duration;

use runtime_decision::BudgetLimits;
use runtime_kernel::engine::{RunResult, RunStatus, Task};
use runtime_ports::{InteractionRequest, InteractionSession, OperationContext, ToolDirective};
use uuid::Uuid;

use crate::{
    arguments::{DEFAULT_MAX_CYCLES, WorkArguments},
    bench::Bench,
    diagnosis::Diagnosis,
    live::{Lived, Said},
    time_limit::LONGEST,
    told::Told,
};

/// Asks once more when a model ends a run without a word.
const ASK_FOR_ANSWER: &str = "Give the final answer to the task now, in a few sentences.";

/// A task that is worked on.
pub(crate) struct Job<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) session_id: Uuid,
    /// Cancelled when the person stops the job.
    pub(crate) operation: OperationContext,
    pub(crate) left: Left,
    pub(crate) questions: Questions,
}

/// What becomes of a question that ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Questions {
    /// It is asked at once, and the answer is worked on.
    InPlace,
    /// It ends the job: whatever is said next answers it.
    WithTheNextMessage,
}

/// What the runs of a job may still use.
#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(crate) budget: BudgetLimits,
    pub(crate) cycles: u32,
    pub(crate) time: Duration,
    pub(crate) chosen: Chosen,
    /// Whether a model that said nothing is asked once more.
    pub(crate) asks_again: bool,
    /// Whether the model may end a run with a question.
    pub(crate) may_ask: bool,
}

/// Of the limits that every job has, those that somebody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) cycles: bool,
    pub(crate) time: bool,
}

impl Job<'_> {
    /// Works on the task. What is said steers.
    ///
    /// # Errors
    /// The agent cannot be made.
    pub(crate) async fn carry_out(
        &mut self,
        mut task: Task,
        said: &mut Said,
    ) -> Result<Lived, Diagnosis> {
        let mut returned = Vec::new();
        loop {
            let stop = &self.operation.cancellation;
            let run = self.bench.run(self.session_id, task, &self.left, said, stop);
            let mut lived = run.await?;
            self.left.spend(&lived);
            returned.append(&mut lived.returned);
            let Some(next) = self.next_task(&lived).await else {
                return Ok(Lived { returned, ..lived });
            };
            if let Some(last) = &lived.last {
                self.bench.ground.show.show(Told::Happened(last));
            }
            task = next;
        }
    }

    /// What is to be done after a run that is over, if anything.
    async fn next_task(&mut self, lived: &Lived) -> Option<Task> {
        let result = lived.result.as_deref()?;
        if self.left.cycles == 0 || self.operation.cancellation.is_cancelled() {
            return None;
        }
        let is_empty = result.error.as_ref().is_some_and(|error| &*error.code == "model_empty");
        let prompt = match result.status {
            RunStatus::WaitUser if self.questions == Questions::InPlace => self.ask(result).await?,
            RunStatus::Failed if is_empty && self.left.asks_again => {
                self.left.asks_again = false;
                ASK_FOR_ANSWER.to_owned()
            }
            _ => return None,
        };
        let mut next = Task::new(prompt).after(result.history.messages().cloned().collect());
        next.context = result.context.clone();
        Some(next)
    }

    /// The answer of the person to what the run asked; none when they give none.
    async fn ask(&self, result: &RunResult) -> Option<String> {
        let terminal = &self.bench.ground.terminal;
        if !terminal.is_attended() {
            return None;
        }
        let request = InteractionRequest::question(format!("ask-{}", result.run_id), asked(result));
        let response = terminal.request(&self.operation, request).await.ok()?;
        Some(response.text).filter(|text| !text.trim().is_empty())
    }
}

/// The question of a run, with the answers that it offers.
pub(crate) fn asked(result: &RunResult) -> String {
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
    /// All that the command line allows.
    pub(crate) fn of(work: &WorkArguments, may_ask: bool) -> Self {
        let budget = BudgetLimits {
            tokens: work.budget_tokens,
            cost_nano_usd: work.budget_usd,
            ..BudgetLimits::default()
        };
        let (cycles, time) = (work.max_cycles, work.timeout);
        let chosen = Chosen { cycles: cycles != DEFAULT_MAX_CYCLES, time: time != LONGEST };
        Self { budget, cycles, time, chosen, asks_again: true, may_ask }
    }

    /// As little as an agent can be made with.
    pub(crate) fn none() -> Self {
        let (budget, time) = (BudgetLimits::default(), Duration::from_secs(1));
        let chosen = Chosen { cycles: false, time: false };
        Self { budget, cycles: 1, time, chosen, asks_again: false, may_ask: false }
    }

    fn spend(&mut self, lived: &Lived) {
        let cycles = lived.result.as_ref().map_or(0, |result| result.cycles.len());
        self.cycles = self.cycles.saturating_sub(u32::try_from(cycles).unwrap_or(u32::MAX));
        if let Some(result) = &lived.result {
            let used = &result.spent.charged;
            let left = |limit: &mut u64, used| *limit = limit.saturating_sub(used);
            self.budget.tokens.iter_mut().for_each(|limit| left(limit, used.tokens));
            self.budget.cost_nano_usd.iter_mut().for_each(|limit| left(limit, used.cost_nano_usd));
        }
        // A run that used up everything has ended for it.
        self.time = self.time.saturating_sub(lived.took).max(Duration::from_millis(1));
    }
}
