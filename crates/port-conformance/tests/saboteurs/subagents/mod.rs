//! The saboteur of sub-agent sessions.
//!
//! Does one thing wrong when it delegates. Knows the honest session below it by its port only.

mod executing;
mod rewording;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    subagents::{
        Child, Nursery, SCENARIOS, StagedSubagents, SubagentCapabilities, SubagentHarness,
    },
};
use runtime_ports::{
    OperationContext, PortFailure, SubagentOutcome, SubagentRequest, SubagentSession,
};
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeSubagentHarness,
    matrix::{faults, prove},
};

faults! {
    /// What the saboteur does wrong.
    SubagentFault {
        /// Gives the answer with a line end.
        AddsALineEnd,
        /// Tells a long prompt in part.
        CutsPrompts,
        /// Tells a prompt without its letters of several bytes.
        TellsAscii,
        /// Allows at most three turns.
        AllowsThreeTurns,
        /// Takes the largest limit for none.
        WrapsLimits,
        /// Allows one turn more.
        AllowsOneMore,
        /// Takes what there is at the limit for an answer.
        AnswersAtTheLimit,
        /// Allows a turn where none is allowed.
        AllowsAtLeastOne,
        /// Runs a child without a task.
        TakesBlankPrompts,

        /// Runs a child for every call.
        RunsAgain,
        /// Runs a child for every operation.
        RunsForEveryOperation,
        /// Does not know of the children that are at work.
        RunsTwiceAtOnce,
        /// Runs another request of a known id.
        TakesOtherRequests,
        /// Gives the known answer to another request.
        AnswersOtherRequests,
        /// Lets another request wait for the child that is at work.
        QueuesOtherRequests,
        /// Knows tasks by their prompts.
        KnowsPrompts,
        /// Does not know executions apart.
        MixesExecutions,
        /// Takes ids for alike that differ in case.
        FoldsIds,
        /// Takes ids for alike that differ after 64 bytes.
        CutsIds,
        /// Takes ids for alike that differ in white space.
        TrimsIds,
        /// Remembers a hundred tasks.
        ForgetsTheOld,

        /// Says `Protocol` for everything.
        FlattensKinds,
        /// Says one code for everything.
        FlattensCodes,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says "not committed" for everything.
        DeniesEffects,
        /// Remembers failures without effect.
        RemembersEveryFailure,
        /// Remembers answers only.
        ForgetsFailures,
        /// Takes nothing for an answer.
        TakesNothingForAnAnswer,
        /// Hides that a child broke down.
        HidesBreakdowns,
        /// Answers the question of a child.
        AnswersQuestions,

        /// Runs a child although the call is over.
        RunsAnyway,
        /// Does not look at the cancellation.
        IgnoresCancel,
        /// Does not look at the deadline.
        IgnoresDeadline,
        /// Ends two seconds after it was ended.
        Dawdles,
        /// Lets the child go on in the background.
        LetsChildrenGo,
        /// Gives the child the operation of its parent.
        LendsItsOperation,
        /// Ends the child when a call that waits for it leaves.
        EndsForEverybody,
        /// Leaves the calls that wait for a child alone.
        LeavesThemWaiting,
        /// Runs one child at a time.
        RunsOneAtATime,
        /// Gives the latest answer to everybody.
        MixesAnswers,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, SubagentFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<SubagentFault>);

#[async_trait]
impl SubagentHarness for SabotagedHarness {
    fn capabilities(&self) -> SubagentCapabilities {
        FakeSubagentHarness.capabilities()
    }

    async fn stage(&self, children: Vec<(String, Child)>) -> Result<StagedSubagents, Unstageable> {
        let staged = FakeSubagentHarness.stage(children).await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let saboteur = Arc::new(Saboteur {
            honest: staged.session,
            nursery: staged.nursery,
            fault,
            memory: Mutex::default(),
            one_at_a_time: tokio::sync::Mutex::new(()),
        });
        Ok(StagedSubagents { session: saboteur.clone(), nursery: saboteur })
    }
}

/// What the saboteur remembers of its calls.
#[derive(Default)]
struct Memory {
    calls: usize,
    /// By request id, as it was given.
    known: HashMap<String, Known>,
    finished: Vec<String>,
    latest: String,
    lent: Vec<CancellationToken>,
}

#[derive(Clone)]
struct Known {
    request: SubagentRequest,
    at_work: usize,
    end: Option<Result<SubagentOutcome, PortFailure>>,
}

/// A session that does one thing wrong.
struct Saboteur {
    honest: Arc<dyn SubagentSession>,
    nursery: Arc<dyn Nursery>,
    fault: SubagentFault,
    memory: Mutex<Memory>,
    one_at_a_time: tokio::sync::Mutex<()>,
}

impl Saboteur {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SubagentSession for Saboteur {
    async fn execute(
        &self,
        operation: &OperationContext,
        request: SubagentRequest,
    ) -> Result<SubagentOutcome, PortFailure> {
        let outcome = self.execute_badly(operation, request).await;
        self.told(outcome)
    }
}

impl Nursery for Saboteur {
    fn turns(&self, prompt: &str) -> usize {
        self.nursery.turns(prompt)
    }

    fn at_work(&self) -> usize {
        self.nursery.at_work()
    }

    fn cancels_itself(&self, prompt: &str) {
        self.nursery.cancels_itself(prompt);
        if self.fault == SubagentFault::LendsItsOperation {
            self.memory().lent.iter().for_each(CancellationToken::cancel);
        }
    }
}
