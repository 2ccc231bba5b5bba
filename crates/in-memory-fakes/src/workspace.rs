//! Decides how a workspace in memory serves files and plays commands.
//!
//! Knows nothing about what a command would do: its output is scripted, and so are its changes.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    CommandOutput, CommandRequest, OperationContext, PortFailure, WorkspaceEntry, WorkspaceSession,
};

use crate::{
    Step,
    fake_port::{FakePort, fake_port, scripted},
    model_step::shortened,
    script::Script,
    workspace_path::inside,
    workspace_tree::Tree,
};

/// One step of a workspace's script: what the next command does.
pub type CommandStep = Step<CommandEffect>;

/// What a scripted command prints and changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEffect {
    /// What it prints, and its exit code.
    pub output: CommandOutput,
    /// Files that it writes, by path from the root, protected or not.
    pub writes: Vec<(String, Vec<u8>)>,
}

/// A [`WorkspaceSession`] in memory. Clones share it.
///
/// `.git` and `.env` are protected: neither read nor written, wherever they are. Nothing is ignored
/// unless [`with_ignored`](Self::with_ignored) says so. Each command plays the next step of a
/// script. Names for a [`FaultPlan`](crate::FaultPlan): `workspace.describe`, `workspace.read`,
/// `workspace.write`, `workspace.list`, `workspace.search`, `workspace.execute`.
///
/// ```
/// use in_memory_fakes::{CommandStep, FakeWorkspace};
///
/// let workspace = FakeWorkspace::new([CommandStep::exits(0, "2 notes.md\n")])
///     .with_file("notes.md", "milk\nbread\n")
///     .with_ignored("target");
/// # workspace.unchecked();
/// ```
#[derive(Clone)]
pub struct FakeWorkspace {
    port: FakePort<Tree, WorkspaceCall>,
    script: Arc<Script<CommandStep>>,
}

/// What a [`FakeWorkspace`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceCall {
    /// Say a few lines about the workspace.
    Describe,
    /// Give the bytes of a file.
    Read(String),
    /// Replace or make a file.
    Write(String, Vec<u8>),
    /// Give the entries of a folder.
    List(String),
    /// Give at most so many lines below a path that contain a text.
    Search(String, String, usize),
    /// Run a command.
    Execute(CommandRequest),
}

fake_port!(FakeWorkspace, WorkspaceCall);
scripted!(FakeWorkspace);

impl Step<CommandEffect> {
    /// Ends with this exit code, having printed `stdout`.
    pub fn exits(exit_code: i32, stdout: impl Into<String>) -> Self {
        let (stdout, stderr) = (stdout.into(), String::new());
        Self::output(CommandOutput { exit_code, stdout, stderr, truncated: false })
    }

    /// Ends with exactly this output.
    pub fn output(output: CommandOutput) -> Self {
        Self::reply(CommandEffect { output, writes: Vec::new() })
    }

    /// Prints nothing, writes this file and ends with 0.
    pub fn writes(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        let (stdout, stderr) = Default::default();
        let output = CommandOutput { exit_code: 0, stdout, stderr, truncated: false };
        Self::reply(CommandEffect { output, writes: vec![(path.into(), content.into())] })
    }
}

impl FakeWorkspace {
    /// An empty workspace whose commands play these steps.
    #[must_use]
    pub fn new(commands: impl IntoIterator<Item = CommandStep>) -> Self {
        let script = Arc::new(Script::new("FakeWorkspace", commands));
        Self { port: FakePort::new(Tree::new()), script }
    }

    /// Also holds this file, protected or not, and the folders above it.
    ///
    /// # Panics
    /// When `path` leads out of the workspace.
    #[must_use]
    pub fn with_file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        let path = inside(path).expect("a path inside the workspace");
        self.port.world().place(&path, content.into());
        self
    }

    /// Leaves out files and folders of this name, or at this path, when listing and searching.
    #[must_use]
    pub fn with_ignored(self, name: impl Into<String>) -> Self {
        self.port.world().ignore(name.into());
        self
    }

    /// Also protects files and folders of this name, in upper or lower case.
    #[must_use]
    pub fn with_protected(self, name: impl Into<String>) -> Self {
        self.port.world().protect(name.into());
        self
    }

    /// Every file by path, ignored and protected ones included.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.port.world().files().clone()
    }

    async fn run(
        &self,
        operation: &OperationContext,
        request: CommandRequest,
    ) -> Result<CommandOutput, PortFailure> {
        self.port.world().folder(request.cwd.as_deref().unwrap_or_default())?;
        let asked = format!("command {:?}", shortened(&request.command));
        let effect = self.script.next(asked)?.play(operation).await?;
        for (path, content) in effect.writes {
            self.port.world().place(&inside(&path)?, content);
        }
        Ok(effect.output)
    }
}

impl Default for FakeWorkspace {
    fn default() -> Self {
        Self::new([])
    }
}

fn described(tree: &Tree) -> String {
    format!(
        "a workspace in memory with {} files; paths are relative to its root",
        tree.files().len()
    )
}

#[async_trait]
impl WorkspaceSession for FakeWorkspace {
    async fn describe(&self, operation: &OperationContext) -> Result<String, PortFailure> {
        let effect = |tree: &mut Tree| Ok(described(tree));
        self.port.call(operation, "workspace.describe", WorkspaceCall::Describe, effect).await
    }

    async fn read(&self, operation: &OperationContext, path: &str) -> Result<Vec<u8>, PortFailure> {
        let call = WorkspaceCall::Read(path.to_owned());
        self.port.call(operation, "workspace.read", call, |tree| tree.read(path)).await
    }

    async fn write(
        &self,
        operation: &OperationContext,
        path: &str,
        content: &[u8],
    ) -> Result<(), PortFailure> {
        let call = WorkspaceCall::Write(path.to_owned(), content.to_vec());
        self.port.call(operation, "workspace.write", call, |tree| tree.write(path, content)).await
    }

    async fn list(
        &self,
        operation: &OperationContext,
        path: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        let call = WorkspaceCall::List(path.to_owned());
        self.port.call(operation, "workspace.list", call, |tree| tree.list(path)).await
    }

    async fn search(
        &self,
        operation: &OperationContext,
        path: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>, PortFailure> {
        let call = WorkspaceCall::Search(path.to_owned(), query.to_owned(), limit);
        let effect = |tree: &mut Tree| tree.search(path, query, limit);
        self.port.call(operation, "workspace.search", call, effect).await
    }

    async fn execute(
        &self,
        operation: &OperationContext,
        request: CommandRequest,
    ) -> Result<CommandOutput, PortFailure> {
        let call = WorkspaceCall::Execute(request.clone());
        let effect = self.run(operation, request);
        self.port.call_async(operation, "workspace.execute", call, effect).await
    }
}
