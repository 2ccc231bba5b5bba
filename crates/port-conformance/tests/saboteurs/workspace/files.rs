//! What the saboteur does wrong with files.
//!
//! Knows nothing about lists, searches and commands.

use std::time::Duration;

use runtime_ports::{OperationContext, PortFailure, PortFailureKind, WorkspaceSession};
use tokio::time::sleep;

use super::{Refused, SabotagedWorkspace, WorkspaceFault as Fault};

impl SabotagedWorkspace {
    pub(super) async fn read_badly(
        &self,
        operation: &OperationContext,
        path: &str,
    ) -> Result<Vec<u8>, PortFailure> {
        if self.fault == Fault::HangsOnLoops && path.starts_with("loop") {
            std::future::pending::<()>().await;
        }
        let outcome = self.honest.read(operation, path).await;
        let kind = outcome.as_ref().err().map(|failure| failure.kind);
        match (self.fault, self.refused(path, &outcome), kind) {
            (Fault::ReadsOutside, Some(Refused::ByText), _)
            | (Fault::ReadsThroughLinks, Some(Refused::ByLink), _)
            | (Fault::InventsFiles, _, Some(PortFailureKind::NotFound))
            | (Fault::ReadsFolders, _, Some(PortFailureKind::Invalid)) => Ok(Vec::new()),
            (Fault::ManglesBytes, ..) => {
                outcome.map(|bytes| String::from_utf8_lossy(&bytes).into_owned().into_bytes())
            }
            _ => outcome,
        }
    }

    pub(super) async fn write_badly(
        &self,
        operation: &OperationContext,
        path: &str,
        content: &[u8],
    ) -> Result<(), PortFailure> {
        if self.fault == Fault::WritesInHalves {
            return self.write_in_halves(operation, path, content).await;
        }
        if self.fault == Fault::MakesNoFolders
            && let Some((folder, _)) = path.rsplit_once('/')
        {
            self.honest.list(operation, folder).await?;
        }
        let mut content = content.to_vec();
        if self.fault == Fault::KeepsOldTails {
            let old = self.honest.read(operation, path).await.unwrap_or_default();
            content.extend(old.into_iter().skip(content.len()));
        }
        let outcome = self.honest.write(operation, path, &content).await;
        let protected = outcome.as_ref().is_err_and(|failure| failure.code == "PATH_PROTECTED");
        match (self.fault, self.refused(path, &outcome)) {
            (Fault::WritesOutside, Some(Refused::ByText))
            | (Fault::WritesThroughLinks, Some(Refused::ByLink)) => Ok(()),
            (Fault::WritesProtectedNames, _) if protected => Ok(()),
            _ => outcome,
        }
    }

    async fn write_in_halves(
        &self,
        operation: &OperationContext,
        path: &str,
        content: &[u8],
    ) -> Result<(), PortFailure> {
        let (first, second) = content.split_at(content.len() / 2);
        self.honest.write(operation, path, first).await?;
        sleep(Duration::from_millis(1)).await;
        let mut whole = self.honest.read(operation, path).await?;
        whole.extend(second);
        self.honest.write(operation, path, &whole).await
    }
}
