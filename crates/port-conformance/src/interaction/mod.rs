//! Decides what every [`InteractionSession`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about terminals, pages or messages: the human is somebody whom the harness lets
//! see and answer.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::{InteractionRequest, InteractionResponse, InteractionSession};
use runtime_types::ExecutionId;

use crate::{Declares, Unstageable};

mod list;
mod scenarios;

pub use list::SCENARIOS;

/// Who is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// A human who sees what is shown, and answers when told to.
    Human,
    /// Nobody.
    Nobody,
}

/// Makes the subject: a session and the human at its other end.
#[async_trait]
pub trait InteractionHarness: Send + Sync {
    /// What the session can do.
    fn capabilities(&self) -> InteractionCapabilities;

    /// A fresh session, without questions, before this audience.
    ///
    /// # Errors
    /// [`Unstageable`] when there cannot be one.
    async fn stage(&self, audience: Audience) -> Result<StagedInteraction, Unstageable>;
}

/// A session and its human.
pub struct StagedInteraction {
    /// The subject.
    pub session: Arc<dyn InteractionSession>,
    /// Who is at the other end.
    pub human: Arc<dyn Human>,
}

/// The human at the other end, or whoever plays one.
#[async_trait]
pub trait Human: Send + Sync {
    /// The questions that can be seen and have no answer, oldest first.
    fn sees(&self) -> Vec<InteractionRequest>;

    /// Answers a question of this execution. An answer that is not taken, since there is one
    /// already, changes nothing and is no error here.
    async fn answers(
        &self,
        execution: &ExecutionId,
        request_id: &str,
        response: InteractionResponse,
    );

    /// The process dies without a farewell and the next one opens the same questions.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn after_death(&self) -> Result<StagedInteraction, Unstageable>;
}

/// What a session may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InteractionCapabilities {
    /// It can find itself before nobody.
    pub can_be_alone: bool,
    /// It serves several executions, each with its own question ids.
    pub executions: bool,
    /// Questions outlive the process that prepared them.
    pub outlives_its_process: bool,
}

/// One field of [`InteractionCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum InteractionNeed {
    CanBeAlone,
    Executions,
    OutlivesItsProcess,
}

impl InteractionCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self { can_be_alone: true, executions: true, outlives_its_process: true };
}

impl Declares<InteractionNeed> for dyn InteractionHarness + '_ {
    fn declares(&self, need: InteractionNeed) -> bool {
        let declared = self.capabilities();
        match need {
            InteractionNeed::CanBeAlone => declared.can_be_alone,
            InteractionNeed::Executions => declared.executions,
            InteractionNeed::OutlivesItsProcess => declared.outlives_its_process,
        }
    }
}
