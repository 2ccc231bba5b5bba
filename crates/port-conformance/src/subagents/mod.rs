//! Decides what every [`SubagentSession`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about models or loops: what each child does is data ([`Child`]), and the harness
//! makes a child that does it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use runtime_ports::{PortFailure, SubagentSession};

use crate::{Declares, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// What a child does.
#[derive(Debug, Clone, PartialEq)]
pub struct Child {
    /// The model turn in which it comes to its end, from 1. In each turn before, it calls a tool
    /// without an effect.
    pub turns: usize,
    /// How long each turn takes.
    pub takes: Duration,
    /// How it ends.
    pub end: ChildEnd,
}

/// How a child ends.
#[derive(Debug, Clone, PartialEq)]
pub enum ChildEnd {
    /// With this answer.
    Answers(String),
    /// Its model fails with exactly this.
    Fails(PortFailure),
    /// Its model breaks down: it panics.
    BreaksDown,
    /// It asks the user this, and wants to go on with the answer.
    Asks(String),
    /// Not by itself: its model gives no answer until it is told to stop.
    Never,
}

/// Makes the subject: a session whose children do what they are meant to.
#[async_trait]
pub trait SubagentHarness: Send + Sync {
    /// What the session can do.
    fn capabilities(&self) -> SubagentCapabilities;

    /// A fresh session. A child that is told the prompt of an entry does what stands beside it; of
    /// several entries of one prompt, each serves one run, in their order, and the last one all
    /// that follow. The prompt is told to the child as it is.
    ///
    /// # Errors
    /// [`Unstageable`] when there cannot be such children.
    async fn stage(&self, children: Vec<(String, Child)>) -> Result<StagedSubagents, Unstageable>;
}

/// A session and its children.
pub struct StagedSubagents {
    /// The subject.
    pub session: Arc<dyn SubagentSession>,
    /// Who does the work.
    pub nursery: Arc<dyn Nursery>,
}

/// Looks after the children.
pub trait Nursery: Send + Sync {
    /// How many model turns began, in all children that were told this prompt.
    fn turns(&self, prompt: &str) -> usize;

    /// How many children are in a model turn now.
    fn at_work(&self) -> usize;

    /// Cancels what a child that was told this prompt, and is in a model turn, was given to work
    /// under: from within, as the child could.
    fn cancels_itself(&self, prompt: &str);
}

/// What a session may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubagentCapabilities {
    /// A child can want to ask the user.
    pub can_ask: bool,
}

/// One field of [`SubagentCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum SubagentNeed {
    CanAsk,
}

impl SubagentCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self { can_ask: true };
}

impl Declares<SubagentNeed> for dyn SubagentHarness + '_ {
    fn declares(&self, need: SubagentNeed) -> bool {
        let declared = self.capabilities();
        match need {
            SubagentNeed::CanAsk => declared.can_ask,
        }
    }
}
