//! Decides what every [`ContextAuditSession`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about files, tables or locks: what a store holds is read through the harness, and
//! another process, one that dies, and a store that is slow or fails are things that the harness
//! can make happen, or declares that it cannot.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot, ModelInvocationAudit,
};

use crate::{Declares, Trouble, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// Makes the subject: a store without a record.
#[async_trait]
pub trait AuditHarness: Send + Sync {
    /// What the store can do.
    fn capabilities(&self) -> AuditCapabilities;

    /// A fresh, empty store.
    ///
    /// # Errors
    /// [`Unstageable`] when there cannot be one.
    async fn stage(&self) -> Result<StagedAudit, Unstageable>;
}

/// A store and the world around it.
pub struct StagedAudit {
    /// The subject.
    pub session: Arc<dyn ContextAuditSession>,
    /// Who reads it, who else opens it, and what befalls it.
    pub world: Box<dyn AuditWorld>,
}

/// The readers and processes around a store, and the store itself.
#[async_trait]
pub trait AuditWorld: Send {
    /// What the store holds at this moment, as its own way of reading gives it.
    ///
    /// # Errors
    /// [`Unstageable`] when it cannot be read.
    async fn kept(&mut self) -> Result<KeptAudit, Unstageable>;

    /// The same store, opened by another process while the first one lives.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn second_process(&mut self) -> Result<Arc<dyn ContextAuditSession>, Unstageable>;

    /// The process that opened `session` dies without a farewell, and the next one opens the same
    /// store.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn after_death(
        &mut self,
        session: Arc<dyn ContextAuditSession>,
    ) -> Result<Arc<dyn ContextAuditSession>, Unstageable>;

    /// Makes this befall the next snapshot of the staged session that reaches the store.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable>;
}

/// What a store holds, each kind by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeptAudit {
    /// The snapshots, with their messages.
    pub snapshots: BTreeMap<String, ContextAuditSnapshot>,
    /// The derivations.
    pub derivations: BTreeMap<String, ContextAuditDerivation>,
    /// The invocations, each as far as it came.
    pub invocations: BTreeMap<String, ModelInvocationAudit>,
    /// How many messages are stored; each one counts as often as it is.
    pub stored_messages: usize,
}

/// What a store may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent capability")]
pub struct AuditCapabilities {
    /// Several processes can open the same store.
    pub shared: bool,
    /// What was kept outlives the process that kept it.
    pub outlives_its_process: bool,
    /// The harness can make a write slow.
    pub can_be_slow: bool,
    /// The harness can make a write fail before anything is kept.
    pub can_refuse: bool,
    /// The harness can make the reply of a write that was kept get lost.
    pub can_lose_replies: bool,
}

/// One field of [`AuditCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum AuditNeed {
    Shared,
    OutlivesItsProcess,
    CanBeSlow,
    CanRefuse,
    CanLoseReplies,
}

impl AuditCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self {
        shared: true,
        outlives_its_process: true,
        can_be_slow: true,
        can_refuse: true,
        can_lose_replies: true,
    };
}

impl Declares<AuditNeed> for dyn AuditHarness + '_ {
    fn declares(&self, need: AuditNeed) -> bool {
        let declared = self.capabilities();
        match need {
            AuditNeed::Shared => declared.shared,
            AuditNeed::OutlivesItsProcess => declared.outlives_its_process,
            AuditNeed::CanBeSlow => declared.can_be_slow,
            AuditNeed::CanRefuse => declared.can_refuse,
            AuditNeed::CanLoseReplies => declared.can_lose_replies,
        }
    }
}
