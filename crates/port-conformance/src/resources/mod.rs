//! Decides what every [`ResourceSession`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about where instructions and skills are written down: the texts are data
//! ([`Texts`]), and the harness puts them where its session looks.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use runtime_ports::ResourceSession;

use crate::{Declares, Unstageable};

mod list;
mod sample;
mod scenarios;

pub use list::SCENARIOS;

/// What is written down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    /// The instructions, in order.
    pub instructions: Vec<String>,
    /// Skills by name. Names are of letters and hyphens.
    pub skills: BTreeMap<String, String>,
}

/// Makes the subject: a session over these texts.
#[async_trait]
pub trait ResourceHarness: Send + Sync {
    /// What the session can do.
    fn capabilities(&self) -> ResourceCapabilities;

    /// A fresh session over exactly these texts.
    ///
    /// # Errors
    /// [`Unstageable`] when such texts cannot be written down for it.
    async fn stage(&self, texts: Texts) -> Result<StagedResources, Unstageable>;
}

/// A session and who writes what it loads.
pub struct StagedResources {
    /// The subject.
    pub session: Arc<dyn ResourceSession>,
    /// Who writes the texts.
    pub author: Box<dyn Author>,
}

/// Who writes the texts.
#[async_trait]
pub trait Author: Send {
    /// Writes these texts in place of all that are there.
    ///
    /// # Errors
    /// [`Unstageable`] when the texts of a living session cannot be changed.
    async fn rewrites(&mut self, texts: Texts) -> Result<(), Unstageable>;
}

/// What a session may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceCapabilities {
    /// There can be more than one instruction.
    pub several_instructions: bool,
    /// There can be skills.
    pub skills: bool,
    /// The texts can change while the session lives.
    pub changing: bool,
}

/// One field of [`ResourceCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum ResourceNeed {
    SeveralInstructions,
    Skills,
    Changing,
}

impl ResourceCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self { several_instructions: true, skills: true, changing: true };
}

impl Declares<ResourceNeed> for dyn ResourceHarness + '_ {
    fn declares(&self, need: ResourceNeed) -> bool {
        let declared = self.capabilities();
        match need {
            ResourceNeed::SeveralInstructions => declared.several_instructions,
            ResourceNeed::Skills => declared.skills,
            ResourceNeed::Changing => declared.changing,
        }
    }
}
