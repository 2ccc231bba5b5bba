//! Decides what a local folder is as a workspace.
//!
//! Knows nothing about tools and permissions. Invariant: a path is validated before anything
//! blocks, and everything that blocks runs off the async threads.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use cap_std::{ambient_authority, fs::Dir};
use runtime_ports::{
    ArtifactStore, CommandOutput, CommandRequest, OperationContext, PortFailure, PortFailureKind,
    WorkspaceEntry, WorkspaceSession,
};
use tokio::sync::OnceCell;

use crate::{
    blocking::blocking,
    command::{self, Prepared},
    entries,
    environment::CommandHome,
    failure, file,
    limits::FolderLimits,
    partial_output::PartialOutput,
    path::{WorkspacePath, shown},
    place::{FolderIdentity, Root},
    search::{self, SearchRequest},
};

/// One local folder. Cloning is cheap; clones share the folder and the home of its commands.
///
/// # Contract
/// Beyond [`WorkspaceSession`]:
/// - The folder is opened once; renaming it afterwards changes nothing.
/// - Links that stay inside are followed for reading, by name. Writing passes through no link.
///   Mount points are ordinary folders.
/// - Secrets and repository internals (`.git`, `.env`, `.env.*`, `.npmrc`, `.ssh`, …) are neither
///   read nor written; control files (`AGENTS.md`, `.mcp.json`, `.vscode`, `.gitmodules`, …) are
///   read and not written. Names are compared without regard to case, anywhere on the path.
/// - **A command is not contained** by any of this. It gets a clean environment with a home of its
///   own and no input, and is ended with what it started.
///
/// # Examples
/// ```
/// use runtime_ports::{OperationContext, WorkspaceSession};
/// use runtime_types::{ExecutionId, OperationId};
/// use workspace_adapter::FolderWorkspace;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("note.txt"), "milk")?;
/// let workspace = FolderWorkspace::open(folder.path())?;
/// # let (operation, execution) = (OperationId::new("op")?, ExecutionId::new("run")?);
/// let operation = OperationContext::root(operation, execution, std::time::Duration::from_secs(9));
/// assert_eq!(workspace.read(&operation, "note.txt").await?, b"milk");
/// assert!(workspace.read(&operation, "../note.txt").await.is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # }).map_err(|error| error.to_string())?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FolderWorkspace {
    root: Arc<Root>,
    location: Arc<Path>,
    limits: FolderLimits,
    home: Arc<OnceCell<Arc<CommandHome>>>,
    partial: PartialOutput,
}

impl FolderWorkspace {
    /// Opens a folder that exists. Blocks for a moment; links in `path` itself are followed.
    ///
    /// # Errors
    /// `NotFound` when nothing is there, `Invalid` when it is no folder, `Forbidden` or
    /// `Unavailable` when the system refuses to open it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, PortFailure> {
        let location = path.as_ref().canonicalize().map_err(|error| not_opened(&error))?;
        let metadata = fs::metadata(&location).map_err(|error| not_opened(&error))?;
        if !metadata.is_dir() {
            return Err(not_a_folder());
        }
        let folder = Dir::open_ambient_dir(&location, ambient_authority())
            .map_err(|error| not_opened(&error))?;
        let root = Root { folder, owner: metadata.uid(), kept_out: Vec::new() };
        Ok(Self {
            root: Arc::new(root),
            location: location.into(),
            limits: FolderLimits::default(),
            home: Arc::default(),
            partial: PartialOutput::default(),
        })
    }

    /// The same folder with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: FolderLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The same folder, from which another one is kept out if it lies inside, under whatever name
    /// it is reached: the host's own configuration, receipts or stores. Blocks for a moment.
    ///
    /// # Errors
    /// As [`FolderWorkspace::open`] for `folder`; `Conflict` when it is the workspace itself.
    pub fn keeping_out(mut self, folder: impl AsRef<Path>) -> Result<Self, PortFailure> {
        let metadata = fs::metadata(folder).map_err(|error| not_opened(&error))?;
        if !metadata.is_dir() {
            return Err(not_a_folder());
        }
        let identity = FolderIdentity::of(metadata.dev(), metadata.ino());
        let own = self.root.folder.dir_metadata().map_err(|error| not_opened(&error))?;
        if FolderIdentity::of_dir(&own) == identity {
            return Err(PortFailure::rejected(
                PortFailureKind::Conflict,
                "FOLDER_IS_KEPT_OUT",
                "this folder holds the host's own files; choose another folder as the workspace",
            ));
        }
        let folder = self.root.folder.try_clone().map_err(|error| not_opened(&error))?;
        let kept_out = [&self.root.kept_out[..], &[identity]].concat();
        self.root = Arc::new(Root { folder, owner: self.root.owner, kept_out });
        Ok(self)
    }

    /// The same folder, with what a command said before it was interrupted kept as an artifact,
    /// which the failure names. Without this it is lost.
    #[must_use]
    pub fn keeping_partial_output(mut self, artifacts: Arc<dyn ArtifactStore>) -> Self {
        self.partial = PartialOutput::kept_in(artifacts);
        self
    }

    /// The folder's own path, links resolved, as it was when it was opened.
    #[must_use]
    pub fn location(&self) -> &Path {
        &self.location
    }

    async fn home(&self) -> Result<Arc<CommandHome>, PortFailure> {
        let make = || async {
            let home = tokio::task::spawn_blocking(CommandHome::make).await;
            home.unwrap_or_else(|fault| Err(io::Error::other(fault))).map(Arc::new)
        };
        let home = self.home.get_or_try_init(make).await;
        home.cloned().map_err(|_| {
            PortFailure::not_sent(
                PortFailureKind::Unavailable,
                "NO_COMMAND_HOME",
                "no temporary folder could be made for the command; check TMPDIR",
            )
        })
    }
}

#[async_trait]
impl WorkspaceSession for FolderWorkspace {
    async fn describe(&self, operation: &OperationContext) -> Result<String, PortFailure> {
        let (root, limits) = (Arc::clone(&self.root), self.limits);
        let name = self.location.file_name().unwrap_or_default().to_string_lossy().into_owned();
        blocking(operation, move |_| {
            let entries = entries::list(&root, &WorkspacePath::parse("")?, &limits);
            match entries {
                Err(failure) if failure.code == entries::TOO_MANY => Ok(description(&name, None)),
                entries => Ok(description(&name, Some(&entries?))),
            }
        })
        .await
    }

    async fn read(&self, operation: &OperationContext, path: &str) -> Result<Vec<u8>, PortFailure> {
        let path = WorkspacePath::parse(path)?;
        let (root, limits) = (Arc::clone(&self.root), self.limits);
        blocking(operation, move |_| file::read(&root, &path, limits.file_bytes)).await
    }

    async fn write(
        &self,
        operation: &OperationContext,
        path: &str,
        content: &[u8],
    ) -> Result<(), PortFailure> {
        let path = WorkspacePath::parse(path)?;
        let limit = self.limits.write_bytes;
        if content.len() > limit {
            let message = format!(
                "content has {} bytes, the limit is {limit}; write less at once",
                content.len()
            );
            return Err(failure::invalid("CONTENT_TOO_LARGE", message));
        }
        let (root, content) = (Arc::clone(&self.root), content.to_vec());
        blocking(operation, move |gate| file::write(&root, &path, &content, gate)).await
    }

    async fn list(
        &self,
        operation: &OperationContext,
        path: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        let path = WorkspacePath::parse(path)?;
        let (root, limits) = (Arc::clone(&self.root), self.limits);
        blocking(operation, move |_| entries::list(&root, &path, &limits)).await
    }

    async fn search(
        &self,
        operation: &OperationContext,
        path: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>, PortFailure> {
        let (path, query) = (WorkspacePath::parse(path)?, query.to_owned());
        let (root, limits) = (Arc::clone(&self.root), self.limits);
        blocking(operation, move |gate| {
            let request = SearchRequest { path: &path, query: &query, limit };
            search::search(&root, &request, &limits, gate)
        })
        .await
    }

    async fn execute(
        &self,
        operation: &OperationContext,
        request: CommandRequest,
    ) -> Result<CommandOutput, PortFailure> {
        command::check_line(&request.command)?;
        let path = WorkspacePath::parse(request.cwd.as_deref().unwrap_or_default())?;
        let root = Arc::clone(&self.root);
        let folder = blocking(operation, move |_| {
            let folder = root.find_folder(&path)?;
            folder.dir(&root).try_clone().map_err(|error| failure::from_io(&error))
        })
        .await?;
        let home = operation.bounded(self.home()).await;
        let prepared = Prepared {
            line: request.command,
            folder: reachable_by_child(&folder),
            keep: Box::new(folder),
            home: home.map_err(|interruption| interruption.before_sending())??,
            output_bytes: self.limits.output_bytes,
            partial: self.partial.clone(),
        };
        command::run(operation, prepared).await
    }
}

/// A path by which a child reaches an open folder: through the handle, which it inherits until it
/// becomes the shell, so that no rename in between leads it elsewhere.
fn reachable_by_child(folder: &Dir) -> PathBuf {
    use std::os::fd::AsRawFd;

    let own_handles = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    Path::new(own_handles).join(folder.as_raw_fd().to_string())
}

fn description(name: &str, entries: Option<&[WorkspaceEntry]>) -> String {
    let name = if name.is_empty() { "/".to_owned() } else { shown(name) };
    let top = entries.map_or("too many entries to count".to_owned(), |entries| {
        let folders = entries.iter().filter(|entry| entry.is_dir).count();
        format!("{} files and {folders} folders, ignored ones not counted", entries.len() - folders)
    });
    format!(
        "Workspace folder `{name}`. Top level: {top}.\nPaths are relative to this folder, parts \
         separated by `/`. Protected names are refused."
    )
}

fn not_a_folder() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::Invalid,
        "WORKSPACE_NOT_A_FOLDER",
        "the workspace is not a folder; name a folder",
    )
}

fn not_opened(error: &io::Error) -> PortFailure {
    let (kind, code, message) = match error.kind() {
        io::ErrorKind::NotFound => (
            PortFailureKind::NotFound,
            "WORKSPACE_NOT_FOUND",
            "the workspace folder does not exist; make it, or name another",
        ),
        io::ErrorKind::NotADirectory => return not_a_folder(),
        io::ErrorKind::PermissionDenied => (
            PortFailureKind::Forbidden,
            "WORKSPACE_NOT_PERMITTED",
            "the workspace folder may not be opened; change its permissions, or name another",
        ),
        _ => (
            PortFailureKind::Unavailable,
            "WORKSPACE_NOT_OPENED",
            "the workspace folder could not be opened; check the disk, or name another",
        ),
    };
    PortFailure::not_sent(kind, code, message)
}

#[cfg(test)]
mod tests;
