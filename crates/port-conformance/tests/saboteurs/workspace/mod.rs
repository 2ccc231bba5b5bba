//! The saboteur of the workspace.
//!
//! Does one thing wrong with paths, files, lists, searches or commands. Knows the honest session
//! below it by its port, and which of its links lead out.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    workspace::{Layout, SCENARIOS, StagedWorkspace, WorkspaceCapabilities, WorkspaceHarness},
};
use runtime_ports::{
    CommandOutput, CommandRequest, CommitDisposition, OperationContext, PortFailure,
    PortFailureKind, WorkspaceEntry, WorkspaceSession,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    harness::{FakeWorkspaceHarness, workspace},
    matrix::{faults, prove},
};

mod files;
mod finding;
mod linked;
mod running;

use linked::LinkedWorkspace;

faults! {
    /// What the saboteur does wrong.
    WorkspaceFault {
        /// Reads what a path outside names.
        ReadsOutside,
        /// Writes what a path outside names.
        WritesOutside,
        /// Lists what a path outside names.
        ListsOutside,
        /// Searches what a path outside names.
        SearchesOutside,
        /// Runs commands in folders outside.
        RunsOutside,
        /// Says whether something is there.
        TellsWhatIsThere,
        /// Reads through links.
        ReadsThroughLinks,
        /// Writes through links.
        WritesThroughLinks,
        /// Lists through links.
        ListsThroughLinks,
        /// Searches through links.
        SearchesThroughLinks,
        /// Follows loops of links for ever.
        HangsOnLoops,

        /// Reads text only.
        ManglesBytes,
        /// Overwrites the beginning of a file.
        KeepsOldTails,
        /// Makes no folders.
        MakesNoFolders,
        /// Reads nothing where nothing is.
        InventsFiles,
        /// Reads a folder as nothing.
        ReadsFolders,
        /// Lists a file as nothing.
        ListsFiles,
        /// Writes protected names.
        WritesProtectedNames,
        /// Writes in two halves.
        WritesInHalves,
        /// Has nothing to say.
        DescribesNothing,

        /// Lists what lies deeper, too.
        ListsDeep,
        /// Lists from the end.
        ReversesLists,
        /// Knows no sizes.
        LosesSizes,
        /// Lists what is ignored.
        ListsIgnored,
        /// Does not know the dot.
        ForgetsTheDot,
        /// Finds upper case, too.
        IgnoresCase,
        /// Gives the last hits first.
        ReversesHits,
        /// Searches everything.
        SearchesEverywhere,
        /// Gives all hits.
        IgnoresLimits,
        /// Says nothing of what it skipped.
        HidesSkipped,
        /// Searches what is ignored.
        SearchesIgnored,

        /// Fails when a command does.
        FailsWithCommands,
        /// Has one code for all signals.
        LosesSignals,
        /// Runs everything in the root.
        RunsInTheRoot,
        /// Leaves out what is long and says nothing.
        CutsOutput,
        /// Says that it left something out.
        ClaimsToHaveCut,
        /// Leaves the children of a command alive.
        LeavesChildren,
        /// Ends two seconds after it was cancelled or late.
        Dawdles,
        /// Does not look at cancellation.
        IgnoresCancel,
        /// Does not look at deadlines.
        IgnoresDeadline,
        /// Says "not committed" for everything.
        LiesNotCommitted,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Says `Internal` for everything.
        FlattensKinds,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, WorkspaceFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<WorkspaceFault>);

#[async_trait]
impl WorkspaceHarness for SabotagedHarness {
    fn capabilities(&self) -> WorkspaceCapabilities {
        WorkspaceCapabilities { links: true, ..FakeWorkspaceHarness.capabilities() }
    }

    async fn stage(&self, mut layout: Layout) -> Result<StagedWorkspace, Unstageable> {
        if self.0 == Some(WorkspaceFault::RunsInTheRoot) {
            layout.commands.iter_mut().for_each(|command| command.cwd = None);
        }
        let staged = workspace::staged(&layout);
        let honest = LinkedWorkspace::new(Arc::clone(&staged.session), &layout);
        let session: Arc<dyn WorkspaceSession> = match self.0 {
            None => Arc::new(honest),
            Some(fault) => {
                let ignored = layout.ignored.clone();
                Arc::new(SabotagedWorkspace { honest: Arc::new(honest), fault, ignored })
            }
        };
        Ok(StagedWorkspace { session, ..staged })
    }
}

/// A session that does one thing wrong.
struct SabotagedWorkspace {
    honest: Arc<LinkedWorkspace>,
    fault: WorkspaceFault,
    ignored: Vec<String>,
}

/// How a call was refused that named a place outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    ByText,
    ByLink,
}

impl SabotagedWorkspace {
    fn operation(&self, operation: &OperationContext) -> OperationContext {
        let mut deaf = operation.clone();
        match self.fault {
            WorkspaceFault::IgnoresCancel => deaf.cancellation = CancellationToken::new(),
            WorkspaceFault::IgnoresDeadline => {
                deaf.deadline = Instant::now() + Duration::from_secs(3_600);
            }
            _ => {}
        }
        deaf
    }

    /// Whether and how the path was refused as one that leads out.
    fn refused<T>(&self, path: &str, outcome: &Result<T, PortFailure>) -> Option<Refused> {
        let forbidden = outcome.as_ref().is_err_and(|failure| failure.code == "PATH_FORBIDDEN");
        let by = if self.honest.leads_out(path) { Refused::ByLink } else { Refused::ByText };
        forbidden.then_some(by)
    }

    fn told<T>(&self, path: &str, outcome: Result<T, PortFailure>) -> Result<T, PortFailure> {
        outcome.map_err(|mut failure| {
            let absent = ["missing", "no-such-file", "dangling"];
            match self.fault {
                WorkspaceFault::LiesNotCommitted => {
                    failure.commit = CommitDisposition::NotCommitted;
                }
                WorkspaceFault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
                WorkspaceFault::FlattensKinds => failure.kind = PortFailureKind::Internal,
                WorkspaceFault::TellsWhatIsThere if absent.iter().any(|it| path.contains(it)) => {
                    failure.message.push_str("; nothing is there");
                }
                _ => {}
            }
            failure
        })
    }
}

#[async_trait]
impl WorkspaceSession for SabotagedWorkspace {
    async fn describe(&self, operation: &OperationContext) -> Result<String, PortFailure> {
        match self.fault {
            WorkspaceFault::DescribesNothing => Ok(String::new()),
            _ => self.honest.describe(operation).await,
        }
    }

    async fn read(&self, operation: &OperationContext, path: &str) -> Result<Vec<u8>, PortFailure> {
        let outcome = self.read_badly(&self.operation(operation), path).await;
        self.told(path, outcome)
    }

    async fn write(
        &self,
        operation: &OperationContext,
        path: &str,
        content: &[u8],
    ) -> Result<(), PortFailure> {
        let outcome = self.write_badly(&self.operation(operation), path, content).await;
        self.told(path, outcome)
    }

    async fn list(
        &self,
        operation: &OperationContext,
        path: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        let outcome = self.list_badly(&self.operation(operation), path).await;
        self.told(path, outcome)
    }

    async fn search(
        &self,
        operation: &OperationContext,
        path: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>, PortFailure> {
        let outcome = self.search_badly(&self.operation(operation), path, query, limit).await;
        self.told(path, outcome)
    }

    async fn execute(
        &self,
        operation: &OperationContext,
        request: CommandRequest,
    ) -> Result<CommandOutput, PortFailure> {
        let path = request.cwd.clone().unwrap_or_default();
        let outcome = self.run_badly(operation, request).await;
        self.told(&path, outcome)
    }
}
