//! A workspace in memory with symbolic links, so that link scenarios can be proved, too.
//!
//! Knows how a link is resolved by its text. Invariant: a path through a link that leads out, or
//! through more than forty-odd links, gets the answer that every path gets that leads out.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use port_conformance::workspace::{Layout, LinkTarget};
use runtime_ports::{
    CommandOutput, CommandRequest, OperationContext, PortFailure, WorkspaceEntry, WorkspaceSession,
};

const MOST_LINKS: usize = 48;

/// What every path is called that leads out.
const OUTSIDE: &str = "..";

/// A session with links over one without.
pub(super) struct LinkedWorkspace {
    plain: Arc<dyn WorkspaceSession>,
    links: BTreeMap<String, LinkTarget>,
}

impl LinkedWorkspace {
    pub(super) fn new(plain: Arc<dyn WorkspaceSession>, layout: &Layout) -> Self {
        Self { plain, links: layout.links.iter().cloned().collect() }
    }

    /// Whether the path leads out through a link, or round and round.
    pub(super) fn leads_out(&self, path: &str) -> bool {
        self.real(path) == OUTSIDE && path != OUTSIDE
    }

    /// The path without links, or [`OUTSIDE`].
    fn real(&self, path: &str) -> String {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let Some((link, rest)) = self.first_link(&path) else { return path };
            let LinkTarget::Text(target) = &self.links[link] else { return OUTSIDE.into() };
            let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder);
            let Some(next) = joined(folder, target, rest) else { return OUTSIDE.into() };
            path = next;
        }
        OUTSIDE.into()
    }

    /// The shortest part of the path that is a link, and what follows it.
    fn first_link<'a>(&self, path: &'a str) -> Option<(&'a str, &'a str)> {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let found =
            ends.map(|end| path.split_at(end)).find(|(part, _)| self.links.contains_key(*part));
        found.map(|(link, rest)| (link, rest.trim_start_matches('/')))
    }
}

/// The target of a link in `folder`, then `rest`; `None` when it leads out.
fn joined(folder: &str, target: &str, rest: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/').chain(rest.split('/')).filter(|part| !part.is_empty()) {
        match part {
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[async_trait]
impl WorkspaceSession for LinkedWorkspace {
    async fn describe(&self, operation: &OperationContext) -> Result<String, PortFailure> {
        self.plain.describe(operation).await
    }

    async fn read(&self, operation: &OperationContext, path: &str) -> Result<Vec<u8>, PortFailure> {
        self.plain.read(operation, &self.real(path)).await
    }

    async fn write(
        &self,
        operation: &OperationContext,
        path: &str,
        content: &[u8],
    ) -> Result<(), PortFailure> {
        self.plain.write(operation, &self.real(path), content).await
    }

    async fn list(
        &self,
        operation: &OperationContext,
        path: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        self.plain.list(operation, &self.real(path)).await
    }

    async fn search(
        &self,
        operation: &OperationContext,
        path: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>, PortFailure> {
        self.plain.search(operation, &self.real(path), query, limit).await
    }

    async fn execute(
        &self,
        operation: &OperationContext,
        request: CommandRequest,
    ) -> Result<CommandOutput, PortFailure> {
        let cwd = request.cwd.map(|cwd| self.real(&cwd));
        self.plain.execute(operation, CommandRequest { cwd, ..request }).await
    }
}
