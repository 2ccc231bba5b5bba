//! The scenarios of the suite of workspaces, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

use runtime_ports::{CommandOutput, CommandRequest, OperationContext, PortFailure, WorkspaceEntry};

use crate::{
    Proof,
    claim::{equal, operation, success},
    workspace::{PlannedCommand, StagedWorkspace},
};

mod commands;
mod escaping;
mod files;
mod finding;
mod interruption;
mod links;

pub(crate) use commands::*;
pub(crate) use escaping::*;
pub(crate) use files::*;
pub(crate) use finding::*;
pub(crate) use interruption::*;
pub(crate) use links::*;

impl StagedWorkspace {
    async fn read(&self, path: &str) -> Result<Vec<u8>, PortFailure> {
        self.session.read(&operation(), path).await
    }

    async fn write(&self, path: &str, content: &[u8]) -> Result<(), PortFailure> {
        self.session.write(&operation(), path, content).await
    }

    async fn list(&self, path: &str) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        self.session.list(&operation(), path).await
    }

    async fn search(&self, path: &str, query: &str) -> Result<Vec<String>, PortFailure> {
        self.session.search(&operation(), path, query, 1_000).await
    }

    async fn run(
        &self,
        operation: &OperationContext,
        planned: &PlannedCommand,
    ) -> Result<CommandOutput, PortFailure> {
        let (command, cwd) = (planned.doing.line(), planned.cwd.clone());
        self.session.execute(operation, CommandRequest { command, cwd }).await
    }

    /// Writes, and finds it written.
    async fn written(&self, path: &str, content: &[u8]) -> Proof {
        success(&format!("writing {path}"), self.write(path, content).await)?;
        equal(&format!("what {path} holds"), &self.world.inside(path).as_deref(), &Some(content))
    }
}
