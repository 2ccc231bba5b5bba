//! The saboteur of the conversation.
//!
//! Does one thing wrong when it appends, loads, or opens again. Knows the honest session below it
//! by its port only.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use async_trait::async_trait;
use port_conformance::{
    Trouble, Unstageable,
    conversation::{
        ConversationCapabilities, ConversationHarness, ConversationWorld, SCENARIOS,
        StagedConversation,
    },
};
use runtime_ports::{
    ConversationMessage, ConversationSession, OperationContext, PortFailure, PortFailureKind,
};
use runtime_types::OperationId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeConversationHarness,
    matrix::{faults, prove},
};

mod appending;
mod background;
mod loading;
mod wording;

faults! {
    /// What the saboteur does wrong.
    ConversationFault {
        /// Has a message of its own where there is none.
        InventsAGreeting,
        /// Takes white space away.
        TrimsTexts,
        /// Leaves out what has no text.
        SkipsEmptyTexts,
        /// Takes a tool for the user.
        ForgetsRoles,
        /// Loses what is beyond 64 KiB of a text.
        CutsLongTexts,
        /// Loses what is beyond a hundred messages of an append.
        CutsLongAppends,
        /// Gives the newest first.
        TurnsAround,
        /// Gives messages in the order of the alphabet.
        SortsMessages,
        /// Gives the oldest messages.
        GivesTheOldest,
        /// Gives all messages when none are asked for.
        TakesZeroForAll,
        /// Gives none when more are asked for than a signed number holds.
        TakesHugeForNone,

        /// Appends again what an operation appended.
        AppendsAgain,
        /// Refuses what an operation appended.
        RefusesRepetition,
        /// Knows what the last operation appended, and no other.
        RemembersTheLast,
        /// Says that it took other messages of an operation.
        TakesOtherMessages,
        /// Adds other messages of an operation.
        AddsOtherMessages,
        /// Compares texts without their roles.
        ComparesTexts,
        /// Takes operations of two executions for two.
        SplitsByExecution,
        /// Appends equal messages once.
        DropsEqualMessages,
        /// Refuses to append nothing.
        RefusesEmptyAppends,
        /// Does not remember who appended nothing.
        ForgetsEmptyAppends,

        /// Forgets what the dead appended.
        ForgetsTheDead,
        /// Forgets which operations of the dead appended.
        ForgetsDeadOperations,
        /// Does not see what another process appends.
        SharesNothing,
        /// Has one conversation for all.
        MixesConversations,

        /// Appends although it was cancelled or late.
        AppendsAnyway,
        /// Loads although it was cancelled or late.
        LoadsAnyway,
        /// Holds what an ended operation asked for against it.
        HoldsTheRefused,
        /// Adds one message after the other.
        AddsOneByOne,
        /// Says "not committed" of what it has appended.
        DeniesItsAppends,
        /// Says "committed" of what it may not have appended.
        ClaimsItsAppends,
        /// Appends in the background what it called not committed.
        AppendsLater,
        /// Appends under another name when nobody waits for the first.
        AppendsTwiceWhenDropped,
        /// Loads nothing more after a load was dropped.
        BreaksWhenDropped,
        /// Refuses an append during another one.
        AppendsOneAtATime,
        /// Looks first, and appends later.
        LooksFirst,

        /// Goes on to its end, whatever becomes of its operation.
        WaitsItOut,
        /// Says that all went well.
        SwallowsFailures,
        /// Takes every failure for one without effect.
        DeniesTheUnknown,
        /// Appends once more under another name when it failed.
        RepeatsSilently,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, ConversationFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<ConversationFault>);

#[async_trait]
impl ConversationHarness for SabotagedHarness {
    fn capabilities(&self) -> ConversationCapabilities {
        FakeConversationHarness.capabilities()
    }

    async fn stage(&self) -> Result<StagedConversation, Unstageable> {
        let staged = FakeConversationHarness.stage().await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let session = sabotaged(staged.session, fault, 0);
        let world = SpoiledWorld { honest: staged.world, fault, deaths: 0 };
        Ok(StagedConversation { session, world: Box::new(world) })
    }
}

type Session = Arc<dyn ConversationSession>;

fn sabotaged(honest: Session, fault: ConversationFault, deaths: u32) -> Session {
    let (memory, loading) = (Mutex::default(), AtomicBool::new(false));
    Arc::new(SabotagedSession { honest, fault, deaths, memory, loading })
}

/// What the saboteur remembers of what was appended.
#[derive(Default)]
struct Memory {
    appended: Vec<(OperationId, Vec<ConversationMessage>)>,
    refused: Vec<(OperationId, Vec<ConversationMessage>)>,
    under_way: u32,
}

/// A session that does one thing wrong.
struct SabotagedSession {
    honest: Session,
    fault: ConversationFault,
    deaths: u32,
    memory: Mutex<Memory>,
    loading: AtomicBool,
}

impl SabotagedSession {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begins_loading(&self) -> bool {
        !self.loading.swap(true, SeqCst)
    }

    fn ends_loading(&self) {
        self.loading.store(false, SeqCst);
    }
}

/// The same operation, deaf to its end.
fn deaf(operation: &OperationContext) -> OperationContext {
    let cancellation = CancellationToken::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    OperationContext { cancellation, deadline, ..operation.clone() }
}

fn refused() -> PortFailure {
    PortFailure::rejected(PortFailureKind::Conflict, "REFUSED", "the saboteur does not like it")
}

struct SpoiledWorld {
    honest: Box<dyn ConversationWorld>,
    fault: ConversationFault,
    deaths: u32,
}

#[async_trait]
impl ConversationWorld for SpoiledWorld {
    async fn second_process(&mut self) -> Result<Session, Unstageable> {
        if self.fault == ConversationFault::SharesNothing {
            return Ok(FakeConversationHarness.stage().await?.session);
        }
        Ok(sabotaged(self.honest.second_process().await?, self.fault, 0))
    }

    async fn after_death(&mut self, session: Session) -> Result<Session, Unstageable> {
        if self.fault == ConversationFault::ForgetsTheDead {
            return Ok(FakeConversationHarness.stage().await?.session);
        }
        self.deaths += 1;
        Ok(sabotaged(self.honest.after_death(session).await?, self.fault, self.deaths))
    }

    async fn another_conversation(&mut self) -> Result<Session, Unstageable> {
        let honest = match self.fault {
            ConversationFault::MixesConversations => self.honest.second_process().await?,
            _ => self.honest.another_conversation().await?,
        };
        Ok(sabotaged(honest, self.fault, 0))
    }

    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable> {
        self.honest.befalls(trouble).await
    }
}

#[async_trait]
impl ConversationSession for SabotagedSession {
    async fn load_recent(
        &self,
        operation: &OperationContext,
        limit: usize,
    ) -> Result<Vec<ConversationMessage>, PortFailure> {
        let outcome = self.load_badly(operation, limit).await;
        wording::told(self.fault, outcome)
    }

    async fn append(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        let outcome = self.append_badly(operation, messages).await;
        wording::told_of_append(self.fault, wording::told(self.fault, outcome))
    }
}
