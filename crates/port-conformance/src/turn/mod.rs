//! Decides what every [`Intelligence`] and its turns must hold, and what a harness must give to
//! try it.
//!
//! Knows no provider: what it does with the requests of a turn is data, in the words of the model
//! suite ([`ProviderReply`]).

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::{Intelligence, UsageReceipt};

use crate::{Declares, Unstageable, model::ProviderReply};

mod course;
mod list;
mod scenarios;

pub use list::SCENARIOS;

/// What the provider does with the requests of each turn.
///
/// One list for each turn, in the order in which the turns start; in it one reply for each
/// request. An answer with calls is followed by another request, once the calls are answered; any
/// other ends the turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnPlan(pub Vec<Vec<ProviderReply>>);

impl TurnPlan {
    /// One turn with these requests.
    #[must_use]
    pub fn one(replies: impl Into<Vec<ProviderReply>>) -> Self {
        Self(vec![replies.into()])
    }

    /// No turn is expected to start.
    #[must_use]
    pub const fn nothing() -> Self {
        Self(Vec::new())
    }

    /// All replies, turn after turn: for a provider that does not know of turns.
    #[must_use]
    pub fn flattened(self) -> Vec<ProviderReply> {
        self.0.into_iter().flatten().collect()
    }
}

/// Makes the subject: an intelligence over a provider that follows a plan.
///
/// # Contract
/// - Each [`Self::stage`] gives a fresh intelligence, a fresh provider and an empty ledger.
/// - The intelligence does not repeat a request that was refused as invalid, nor one that was cut.
#[async_trait]
pub trait TurnHarness: Send + Sync {
    /// What the intelligence and its provider can do.
    fn capabilities(&self) -> TurnCapabilities;

    /// A fresh intelligence over a fresh provider that follows `plan`.
    ///
    /// # Errors
    /// [`Unstageable`] when the provider cannot be made to do what the plan says.
    async fn stage(&self, plan: TurnPlan) -> Result<StagedTurns, Unstageable>;
}

/// An intelligence and what is around it.
pub struct StagedTurns {
    /// The subject.
    pub intelligence: Arc<dyn Intelligence>,
    /// Exact identifier of a model that it serves, at least four characters long.
    pub model: String,
    /// An alias of that model; the model itself where there are no aliases.
    pub alias: String,
    /// What happened around it.
    pub world: Arc<dyn TurnWorld>,
}

/// What can be seen from outside the intelligence.
#[async_trait]
pub trait TurnWorld: Send + Sync {
    /// Every settled receipt, wherever the intelligence keeps them.
    async fn receipts(&self) -> Vec<UsageReceipt>;

    /// Whether any request reached the provider.
    fn reached(&self) -> bool;

    /// Whether this text was sent to the provider, as input or as the answer to a call.
    fn was_sent(&self, text: &str) -> bool;
}

/// What an intelligence may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnCapabilities {
    /// Models have aliases.
    pub aliases: bool,
    /// Text is given as deltas.
    pub deltas: bool,
    /// Turns can be continued.
    pub threads: bool,
    /// A turn is made of requests, which its receipt lists one by one.
    pub requests: bool,
    /// What a provider says a request cost is in the receipt.
    pub costs: bool,
}

/// One field of [`TurnCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum TurnNeed {
    Aliases,
    Deltas,
    Threads,
    Requests,
    Costs,
}

impl TurnCapabilities {
    /// Everything is there.
    pub const ALL: Self =
        Self { aliases: true, deltas: true, threads: true, requests: true, costs: true };
}

impl Declares<TurnNeed> for dyn TurnHarness + '_ {
    fn declares(&self, need: TurnNeed) -> bool {
        let declared = self.capabilities();
        match need {
            TurnNeed::Aliases => declared.aliases,
            TurnNeed::Deltas => declared.deltas,
            TurnNeed::Threads => declared.threads,
            TurnNeed::Requests => declared.requests,
            TurnNeed::Costs => declared.costs,
        }
    }
}
