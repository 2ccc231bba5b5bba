//! Decides what a scripted child does: take its turns, and come to an end.
//!
//! Knows nothing about which task it was given.

use std::time::Duration;

use runtime_ports::{OperationContext, PortFailure, PortFailureKind, SubagentOutcome};
use tokio::time::sleep;

use crate::{Step, script::Scripted};

/// What one scripted child does. Without a word to the contrary it has one model turn, which takes
/// no time.
#[derive(Debug, Clone)]
pub struct SubagentStep {
    turns: usize,
    takes: Duration,
    end: Step<SubagentOutcome>,
}

impl SubagentStep {
    const fn ending(end: Step<SubagentOutcome>) -> Self {
        Self { turns: 1, takes: Duration::ZERO, end }
    }

    /// Comes back with this answer.
    pub fn answer(answer: impl Into<String>) -> Self {
        Self::ending(Step::reply(SubagentOutcome { answer: answer.into() }))
    }

    /// Fails with exactly this; after its first turn, never as without effect.
    #[must_use]
    pub const fn fail(failure: PortFailure) -> Self {
        Self::ending(Step::fail(failure))
    }

    /// Wants to ask the user, which a child cannot.
    #[must_use]
    pub fn ask() -> Self {
        let message = "the child asks the user, whom it cannot reach; say more in its task";
        let kind = PortFailureKind::Unavailable;
        Self::fail(PortFailure::committed(kind, "SUBAGENT_ASKS", message))
    }

    /// Hangs until the operation is cancelled or its deadline passes; then the commit is unknown.
    #[must_use]
    pub const fn stall() -> Self {
        Self::ending(Step::stall())
    }

    /// Panics with this message, which the fake turns into a failure.
    pub fn panic(message: impl Into<String>) -> Self {
        Self::ending(Step::panic(message))
    }

    /// Each of its turns takes so long.
    #[must_use]
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.takes = delay;
        self
    }

    /// Comes to its end in this turn, from 1.
    #[must_use]
    pub const fn in_turn(mut self, turn: usize) -> Self {
        self.turns = turn;
        self
    }

    /// Lives for at most `limit` turns, and says of each that it begins.
    pub(crate) async fn live(
        self,
        operation: &OperationContext,
        limit: usize,
        begin_turn: impl Fn(),
    ) -> Result<SubagentOutcome, PortFailure> {
        for turn in 1..=self.turns {
            if turn > limit {
                return Err(no_turn_left());
            }
            begin_turn();
            let slept = operation.bounded(sleep(self.takes)).await;
            slept.map_err(runtime_ports::Interruption::in_flight)?;
        }
        self.end.play(operation).await.map_err(|failure| after_turns(self.turns, failure))
    }
}

fn no_turn_left() -> PortFailure {
    let message = "the child has no model turn left; allow more, or ask for less";
    PortFailure::committed(PortFailureKind::Forbidden, "SUBAGENT_TURN_LIMIT", message)
}

/// What the turns before have done stands.
fn after_turns(turns: usize, failure: PortFailure) -> PortFailure {
    use runtime_ports::CommitDisposition::{Committed, NotCommitted};

    let commit =
        if failure.commit == NotCommitted && turns > 1 { Committed } else { failure.commit };
    PortFailure { commit, ..failure }
}

impl Scripted for SubagentStep {
    fn label(&self) -> String {
        match self.turns {
            1 => self.end.label(),
            turns => format!("{} in turn {turns}", self.end.label()),
        }
    }
}
