//! Decides what every [`WorkspaceSession`] must hold, and what a harness must give to try it.
//!
//! Knows nothing about disks: what lies in and beside a workspace is data ([`Layout`]).

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::WorkspaceSession;

use crate::{Declares, Unstageable};

mod layout;
mod list;
mod paths;
mod scenarios;

pub use layout::{CommandDoing, Layout, LinkTarget, PlannedCommand};
pub use list::SCENARIOS;
pub use paths::HOSTILE_PATHS;

/// Makes the subject: a workspace that is laid out as asked for.
#[async_trait]
pub trait WorkspaceHarness: Send + Sync {
    /// What the workspace can do.
    fn capabilities(&self) -> WorkspaceCapabilities;

    /// A fresh workspace with this layout.
    ///
    /// # Errors
    /// [`Unstageable`] when the layout needs what the workspace does not have.
    async fn stage(&self, layout: Layout) -> Result<StagedWorkspace, Unstageable>;
}

/// A workspace and what can be seen of it without it.
pub struct StagedWorkspace {
    /// The subject.
    pub session: Arc<dyn WorkspaceSession>,
    /// What is really there.
    pub world: Arc<dyn WorkspaceWorld>,
    /// Absolute path of the root, where it has one.
    pub root: Option<String>,
    /// Names that are protected from writing; empty when none is.
    pub protected: Vec<String>,
}

/// What is really there, whatever the session says.
pub trait WorkspaceWorld: Send + Sync {
    /// The content of a file of the workspace, from its root; `None` when there is no file.
    fn inside(&self, path: &str) -> Option<Vec<u8>>;

    /// The content of a file beside the workspace; `None` when there is no file.
    fn outside(&self, path: &str) -> Option<Vec<u8>>;
}

/// What a workspace may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkspaceCapabilities {
    /// There are symbolic links.
    pub links: bool,
    /// Commands can be run.
    pub commands: bool,
    /// There are rules that leave names out of lists and searches.
    pub ignoring: bool,
    /// Some names are protected.
    pub protecting: bool,
}

/// One field of [`WorkspaceCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum WorkspaceNeed {
    Links,
    Commands,
    Ignoring,
    Protecting,
}

impl WorkspaceCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self { links: true, commands: true, ignoring: true, protecting: true };
}

impl Declares<WorkspaceNeed> for dyn WorkspaceHarness + '_ {
    fn declares(&self, need: WorkspaceNeed) -> bool {
        let declared = self.capabilities();
        match need {
            WorkspaceNeed::Links => declared.links,
            WorkspaceNeed::Commands => declared.commands,
            WorkspaceNeed::Ignoring => declared.ignoring,
            WorkspaceNeed::Protecting => declared.protecting,
        }
    }
}
