//! Decides what every [`TraceSession`] and the [`TraceReader`] beside it must hold, and what a
//! harness must give to try them.
//!
//! Knows nothing about files, tables or locks: another process, one that dies, and a store that is
//! slow or fails are things that the harness can make happen, or declares that it cannot.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::{TraceReader, TraceSession};

use crate::{Declares, Trouble, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// Makes the subject: a store without events.
#[async_trait]
pub trait TraceHarness: Send + Sync {
    /// What the store can do.
    fn capabilities(&self) -> TraceCapabilities;

    /// A fresh, empty store.
    ///
    /// # Errors
    /// [`Unstageable`] when there cannot be one.
    async fn stage(&self) -> Result<StagedTrace, Unstageable>;
}

/// Both ports of one store, opened by one process. Clones share it.
#[derive(Clone)]
pub struct TracePorts {
    /// Keeps events.
    pub session: Arc<dyn TraceSession>,
    /// Reads them.
    pub reader: Arc<dyn TraceReader>,
}

/// A store and the world around it.
pub struct StagedTrace {
    /// The subject.
    pub ports: TracePorts,
    /// Who else opens it, and what befalls it.
    pub world: Box<dyn TraceWorld>,
}

/// The processes around a store, and the store itself.
#[async_trait]
pub trait TraceWorld: Send {
    /// The same events, opened by another process while the first one lives.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn second_process(&mut self) -> Result<TracePorts, Unstageable>;

    /// The process that opened `ports` dies without a farewell, and the next one opens the same
    /// events.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn after_death(&mut self, ports: TracePorts) -> Result<TracePorts, Unstageable>;

    /// Makes this befall the next append of the staged ports that reaches the store.
    ///
    /// # Errors
    /// [`Unstageable`] when that cannot be made to happen.
    async fn befalls(&mut self, trouble: Trouble) -> Result<(), Unstageable>;
}

/// What a store may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent capability")]
pub struct TraceCapabilities {
    /// Several processes can open the same events.
    pub shared: bool,
    /// What was appended outlives the process that appended it.
    pub outlives_its_process: bool,
    /// The harness can make an append slow.
    pub can_be_slow: bool,
    /// The harness can make an append fail before anything is kept.
    pub can_refuse: bool,
    /// The harness can make the reply of an append that was kept get lost.
    pub can_lose_replies: bool,
}

/// One field of [`TraceCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum TraceNeed {
    Shared,
    OutlivesItsProcess,
    CanBeSlow,
    CanRefuse,
    CanLoseReplies,
}

impl TraceCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self {
        shared: true,
        outlives_its_process: true,
        can_be_slow: true,
        can_refuse: true,
        can_lose_replies: true,
    };
}

impl Declares<TraceNeed> for dyn TraceHarness + '_ {
    fn declares(&self, need: TraceNeed) -> bool {
        let declared = self.capabilities();
        match need {
            TraceNeed::Shared => declared.shared,
            TraceNeed::OutlivesItsProcess => declared.outlives_its_process,
            TraceNeed::CanBeSlow => declared.can_be_slow,
            TraceNeed::CanRefuse => declared.can_refuse,
            TraceNeed::CanLoseReplies => declared.can_lose_replies,
        }
    }
}
