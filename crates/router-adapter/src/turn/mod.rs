//! Decides how a turn is split: an owner task that does the work, and the handle that a host holds.
//!
//! Knows nothing about models or prices. Invariant: the owner needs no living handle to account for
//! the turn; the handle only sends it messages.

mod conclusion;
mod exchange;
mod handle;
mod next_step;
mod owner;
mod patience;
mod sink;

use std::sync::Arc;

use runtime_ports::{AgentContinuation, AgentTurnEvent, PortFailure, ToolResult, TurnStart};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

pub(crate) use handle::{RouterTurn, owner_lost};
pub(crate) use owner::Owner;

use crate::{
    account::{Account, Settlement},
    mailbox::{Mailbox, Merge, Poster},
    projection::Projections,
    route::Route,
    sending::Rules,
    thread::OpenThread,
    tree::Registration,
};

/// Everything that a turn needs before it starts.
pub(crate) struct TurnPlan {
    pub(crate) start: TurnStart,
    pub(crate) route: Route,
    pub(crate) rules: Rules,
    pub(crate) projections: Arc<Projections>,
    pub(crate) thread: OpenThread,
    pub(crate) instructions: Option<Arc<str>>,
    pub(crate) account: Account,
    pub(crate) registration: Registration,
}

/// How a turn ended.
pub(crate) struct Outcome {
    settlement: Settlement,
    conclusion: Result<Completion, PortFailure>,
}

/// What a completed turn gives.
struct Completion {
    event: AgentTurnEvent,
    continuation: Option<AgentContinuation>,
}

/// The owner's ends of the channels to the handle.
struct OwnerEnd {
    events: Poster<AgentTurnEvent>,
    answers: mpsc::Receiver<ToolResult>,
    given_up: CancellationToken,
    outcome: oneshot::Sender<Outcome>,
}

/// The handle's ends of the channels to the owner.
struct HandleEnd {
    events: Arc<Mailbox<AgentTurnEvent>>,
    answers: mpsc::Sender<ToolResult>,
    /// Fires when the operation is cancelled.
    cancelled: CancellationToken,
    /// Fires when nobody waits for the turn any more.
    given_up: CancellationToken,
    outcome: oneshot::Receiver<Outcome>,
}

/// The two halves of a turn.
pub(crate) fn split(plan: TurnPlan) -> (Owner, RouterTurn) {
    let events = Arc::new(Mailbox::new());
    // One call is open at a time, so one answer is under way at most.
    let (answer, answers) = mpsc::channel(1);
    let (report, outcome) = oneshot::channel();
    let given_up = CancellationToken::new();
    let handle = RouterTurn::new(HandleEnd {
        events: Arc::clone(&events),
        answers: answer,
        cancelled: plan.registration.token().clone(),
        given_up: given_up.clone(),
        outcome,
    });
    let events = Poster::new(events);
    let owner = Owner::new(plan, OwnerEnd { events, answers, given_up, outcome: report });
    (owner, handle)
}

/// Events that read on in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EventKind {
    Text,
    Reasoning,
}

impl Merge for AgentTurnEvent {
    type Kind = EventKind;

    fn kind(&self) -> Option<EventKind> {
        match self {
            Self::TextDelta(_) => Some(EventKind::Text),
            Self::ReasoningDelta(_) => Some(EventKind::Reasoning),
            _ => None,
        }
    }

    fn absorb(&mut self, newer: Self) {
        match (self, newer) {
            (Self::TextDelta(held), Self::TextDelta(more))
            | (Self::ReasoningDelta(held), Self::ReasoningDelta(more)) => held.push_str(&more),
            // Of two kinds: the mailbox asks for none of this.
            _ => {}
        }
    }
}
