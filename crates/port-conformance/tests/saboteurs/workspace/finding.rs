//! What the saboteur does wrong with lists and searches.
//!
//! Knows nothing about single files.

use runtime_ports::{
    OperationContext, PortFailure, PortFailureKind, WorkspaceEntry, WorkspaceSession,
};

use super::{Refused, SabotagedWorkspace, WorkspaceFault as Fault};

fn unknown_dot() -> PortFailure {
    PortFailure::rejected(PortFailureKind::NotFound, "NOT_FOUND", "no such folder")
}

impl SabotagedWorkspace {
    pub(super) async fn list_badly(
        &self,
        operation: &OperationContext,
        path: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        if self.fault == Fault::ForgetsTheDot && path == "." {
            return Err(unknown_dot());
        }
        let outcome = self.honest.list(operation, path).await;
        let is_file =
            outcome.as_ref().is_err_and(|failure| failure.kind == PortFailureKind::Invalid);
        match (self.fault, self.refused(path, &outcome)) {
            (Fault::ListsOutside, Some(Refused::ByText))
            | (Fault::ListsThroughLinks, Some(Refused::ByLink)) => return Ok(Vec::new()),
            (Fault::ListsFiles, _) if is_file => return Ok(Vec::new()),
            _ => {}
        }
        let mut entries = outcome?;
        match self.fault {
            Fault::ReversesLists => entries.reverse(),
            Fault::LosesSizes => entries.iter_mut().for_each(|entry| entry.size = None),
            Fault::ListsIgnored => entries.extend(self.ignored.iter().map(|name| entry(name))),
            Fault::ListsDeep => {
                let folders = entries.clone().into_iter().filter(|entry| entry.is_dir);
                for folder in folders {
                    entries.extend(self.honest.list(operation, &folder.path).await?);
                }
            }
            _ => {}
        }
        Ok(entries)
    }

    pub(super) async fn search_badly(
        &self,
        operation: &OperationContext,
        path: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>, PortFailure> {
        if self.fault == Fault::ForgetsTheDot && path == "." {
            return Err(unknown_dot());
        }
        let (searched, most) = match self.fault {
            Fault::SearchesEverywhere => ("", limit),
            Fault::IgnoresLimits => (path, usize::MAX),
            _ => (path, limit),
        };
        let outcome = self.honest.search(operation, searched, query, most).await;
        match (self.fault, self.refused(path, &outcome)) {
            (Fault::SearchesOutside, Some(Refused::ByText))
            | (Fault::SearchesThroughLinks, Some(Refused::ByLink)) => return Ok(Vec::new()),
            _ => {}
        }
        let mut lines = outcome?;
        match self.fault {
            Fault::ReversesHits => lines.reverse(),
            Fault::HidesSkipped => lines.retain(|line| !line.contains(": skipped (")),
            Fault::IgnoresCase => {
                let upper = query.to_uppercase();
                lines.extend(self.honest.search(operation, path, &upper, limit).await?);
            }
            Fault::SearchesIgnored => {
                lines.extend(self.ignored.iter().map(|name| format!("{name}:1:{query}")));
            }
            _ => {}
        }
        Ok(lines)
    }
}

fn entry(path: &str) -> WorkspaceEntry {
    WorkspaceEntry { path: path.into(), is_dir: false, size: Some(1) }
}
