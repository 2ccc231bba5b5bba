//! The saboteur of intelligence and turn.
//!
//! Does one thing wrong: when a turn starts or is cancelled, in what the turn says, or in what its
//! receipt says. Knows the honest intelligence below it by its port only.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    turn::{SCENARIOS, StagedTurns, TurnCapabilities, TurnHarness, TurnPlan, TurnWorld},
};
use runtime_ports::{
    AgentTurn, Intelligence, PortFailure, PortFailureKind, ResolvedAgentModel, TurnFailure,
    TurnStart, UsageReceipt,
};
use uuid::Uuid;

use crate::{
    harness::FakeTurnHarness,
    matrix::{faults, prove},
};

mod accounting;
mod idle;
mod telling;

faults! {
    /// What the saboteur does wrong.
    TurnFault {
        /// Claims more prompt than window.
        OverstatesWindows,
        /// Knows no aliases.
        IgnoresAliases,
        /// Takes its own model for one that it does not know.
        GuessesModels,
        /// Starts what must be refused.
        AcceptsAnything,
        /// Leaves a receipt for what was refused.
        ReceiptsRefusals,
        /// Says `Internal` for everything.
        FlattensKinds,
        /// Begins a new thread instead of going on.
        BeginsThreadsAnew,

        /// Does not give the context.
        HidesContext,
        /// Gives the context twice.
        RepeatsContext,
        /// Gives another input than it was given.
        RewritesInput,
        /// Completes twice.
        CompletesTwice,
        /// Gives no answer.
        LosesAnswer,
        /// Loses text deltas.
        LosesDeltas,
        /// Answers calls of `write` by itself.
        AnswersByItself,
        /// Takes arguments that do not parse for none.
        GuessesArguments,
        /// Passes another answer on than it was given.
        RewritesAnswers,
        /// Ends instead of refusing, while a call is open.
        EndsOnOpenCalls,
        /// Takes second answers and answers to nothing.
        TakesAnyAnswer,
        /// Takes answers after cancellation.
        TakesLateAnswers,
        /// Loses the event of a dropped wait.
        LosesDroppedEvents,
        /// Reports the usage of each request, not of the turn.
        ReportsEachRequest,
        /// Completes with a cut answer.
        CompletesCutAnswers,
        /// Fails again and again.
        TalksAfterFailure,
        /// Says "not committed" for everything.
        LiesNotCommitted,
        /// Ends two seconds after it was cancelled.
        Dawdles,

        /// Waits for the provider for ever.
        IgnoresTimeout,
        /// Counts the host's time.
        CountsTheHost,
        /// Makes as many requests as it likes.
        IgnoresRequestLimit,
        /// Cancels nothing and says that it did.
        CancelsNothing,
        /// Says that nothing was running.
        DeniesCancelling,
        /// Says that something was running.
        AffirmsCancelling,
        /// Does not know whose child a turn is.
        OrphansChildren,
        /// Cancels the parent, too.
        CancelsParents,

        /// Leaves no receipt when a turn is dropped.
        LeaksDroppedTurns,
        /// Leaves every receipt twice.
        DoublesReceipts,
        /// Fails without a receipt.
        LosesReceiptsOfFailures,
        /// Has a receipt while the turn is open.
        ReceiptsOpenTurns,
        /// Gives another receipt when it is finished again.
        FinishesAnew,
        /// Calls a completed turn interrupted when it is finished.
        InterruptsTheCompleted,
        /// Calls every turn completed.
        CompletesEverything,
        /// Bills the first user for all.
        MixesUsers,
        /// Takes the provider's model for what was asked for.
        ForgetsTheRequestedModel,
        /// Has no thread in the receipt.
        LosesThread,
        /// Has no parent in the receipt.
        LosesParent,
        /// Writes times in seconds.
        TimesInSeconds,
        /// Reports zero for what was not reported.
        ZeroesUsage,
        /// Lists no requests.
        HidesRequests,
        /// Lists only the last request.
        ListsTheLastRequest,
        /// Calls no sum a lower bound.
        NeverALowerBound,
        /// Calls every sum a lower bound.
        AlwaysALowerBound,
        /// States a cost of zero when none is known.
        ZeroesCost,
        /// Adds up known costs although one is unknown.
        SumsKnownCosts,
        /// States the cost of the last request.
        CostOfTheLastRequest,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, TurnFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<TurnFault>);

#[async_trait]
impl TurnHarness for SabotagedHarness {
    fn capabilities(&self) -> TurnCapabilities {
        FakeTurnHarness.capabilities()
    }

    async fn stage(&self, plan: TurnPlan) -> Result<StagedTurns, Unstageable> {
        let staged = FakeTurnHarness.stage(plan).await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let memory = Arc::new(Mutex::new(Memory::default()));
        let intelligence = Arc::new(SabotagedIntelligence {
            honest: Arc::clone(&staged.intelligence),
            fault,
            model: staged.model.clone(),
            alias: staged.alias.clone(),
            memory: Arc::clone(&memory),
        });
        let world = Arc::new(SpoiledWorld { honest: Arc::clone(&staged.world), fault, memory });
        Ok(StagedTurns { intelligence, world, ..staged })
    }
}

/// What the saboteur remembers of the turns so far.
#[derive(Default)]
pub(crate) struct Memory {
    parents: HashMap<Uuid, Uuid>,
    first_user: Option<String>,
    extra_receipts: Vec<UsageReceipt>,
}

pub(crate) fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An intelligence that does one thing wrong.
struct SabotagedIntelligence {
    honest: Arc<dyn Intelligence>,
    fault: TurnFault,
    model: String,
    alias: String,
    memory: Arc<Mutex<Memory>>,
}

impl SabotagedIntelligence {
    fn noted(&self, mut start: TurnStart) -> TurnStart {
        let mut memory = lock(&self.memory);
        if let Some(parent) = start.parent_operation_id {
            memory.parents.insert(start.operation_id, parent);
        }
        memory.first_user.get_or_insert_with(|| start.user_id.clone());
        match self.fault {
            TurnFault::OrphansChildren => start.parent_operation_id = None,
            TurnFault::IgnoresTimeout | TurnFault::CountsTheHost => start.request.timeout = None,
            TurnFault::IgnoresRequestLimit => start.request.max_requests = u32::MAX,
            TurnFault::BeginsThreadsAnew
                if start
                    .continuation
                    .as_ref()
                    .is_some_and(|thread| thread.thread_id != "a-thread") =>
            {
                start.continuation = None;
            }
            _ => {}
        }
        start
    }

    fn refused(
        &self,
        start: &TurnStart,
        failure: TurnFailure,
    ) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        match self.fault {
            TurnFault::AcceptsAnything => Ok(Box::new(idle::IdleTurn)),
            TurnFault::ReceiptsRefusals => {
                let receipt = idle::receipt(start);
                lock(&self.memory).extra_receipts.push(receipt.clone());
                Err(TurnFailure { receipt: Some(Box::new(receipt)), ..failure })
            }
            TurnFault::FlattensKinds => Err(accounting::flattened(failure)),
            _ => Err(failure),
        }
    }
}

#[async_trait]
impl Intelligence for SabotagedIntelligence {
    async fn resolve_agent_model(
        &self,
        requested: &str,
    ) -> Result<ResolvedAgentModel, PortFailure> {
        if self.fault == TurnFault::IgnoresAliases && requested == self.alias {
            return self.honest.resolve_agent_model("no-such-model").await;
        }
        match (self.fault, self.honest.resolve_agent_model(requested).await) {
            (TurnFault::OverstatesWindows, Ok(model)) => {
                let max_input_tokens = model.context_window_tokens + 1;
                Ok(ResolvedAgentModel { max_input_tokens, ..model })
            }
            (TurnFault::GuessesModels, Err(failure))
                if failure.kind == PortFailureKind::NotFound =>
            {
                self.honest.resolve_agent_model(&self.model).await
            }
            (_, resolved) => resolved,
        }
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        let noted = self.noted(start.clone());
        match self.honest.start_agent_turn(noted).await {
            Ok(honest) => {
                let memory = Arc::clone(&self.memory);
                Ok(Box::new(telling::SabotagedTurn::new(honest, self.fault, start, memory)))
            }
            Err(failure) => self.refused(&start, failure),
        }
    }

    async fn cancel(&self, operation_id: Uuid) -> Result<bool, PortFailure> {
        let parent = lock(&self.memory).parents.get(&operation_id).copied();
        match self.fault {
            TurnFault::CancelsNothing => return Ok(true),
            TurnFault::CancelsParents => {
                return self.honest.cancel(parent.unwrap_or(operation_id)).await;
            }
            _ => {}
        }
        let running = self.honest.cancel(operation_id).await?;
        match self.fault {
            TurnFault::DeniesCancelling => Ok(false),
            TurnFault::AffirmsCancelling => Ok(true),
            _ => Ok(running),
        }
    }
}

/// The world as the saboteur's receipts make it look.
struct SpoiledWorld {
    honest: Arc<dyn TurnWorld>,
    fault: TurnFault,
    memory: Arc<Mutex<Memory>>,
}

#[async_trait]
impl TurnWorld for SpoiledWorld {
    async fn receipts(&self) -> Vec<UsageReceipt> {
        let honest = self.honest.receipts().await;
        let memory = lock(&self.memory);
        let spoiled = honest.into_iter().map(|it| accounting::spoiled(self.fault, it, &memory));
        let mut receipts: Vec<_> = spoiled.chain(memory.extra_receipts.clone()).collect();
        if self.fault == TurnFault::DoublesReceipts {
            receipts.extend(receipts.clone());
        }
        receipts
    }

    fn reached(&self) -> bool {
        self.honest.reached()
    }

    fn was_sent(&self, text: &str) -> bool {
        self.honest.was_sent(text)
    }
}
