//! Decides what an agent may do with files and commands of one workspace.
//!
//! Knows nothing about where the workspace is. Invariant: no path leads out of it, through links
//! either.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{OperationContext, PortFailure};

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceEntry {
    /// Path from the root of the workspace, parts separated by `/`.
    pub path: String,
    /// Whether it is a folder.
    pub is_dir: bool,
    /// Bytes of a regular file; `None` for anything else.
    pub size: Option<u64>,
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandRequest {
    /// A command line for the POSIX shell.
    pub command: String,
    /// Folder to run in, from the root of the workspace; `None` is the root.
    pub cwd: Option<String>,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandOutput {
    /// Exit code; 128 + signal when a signal ended the command.
    pub exit_code: i32,
    /// Standard output, invalid UTF-8 replaced; head and tail when it was too long.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Whether a part of either was left out.
    pub truncated: bool,
}

/// Files and commands of one workspace.
///
/// # Contract
/// - Paths are relative to the root, parts separated by `/`; `""` and `"."` are the root. A path
///   that would lead out (`..`, absolute, through a link) is `Forbidden` before any I/O, with one
///   and the same message whether or not something is there.
/// - `read` and `write` take regular files only. `write` replaces the whole file or nothing, and
///   makes missing folders. Names that an implementation protects are `Forbidden`.
/// - `list` is one level, sorted by path, ignored files left out.
/// - `search` is literal and recursive, ignored files left out, at most `limit` lines in order of
///   path and line: `path:line:text` for a hit, `path: skipped (reason)` for a file that was not
///   searched.
/// - `execute` returns whatever the exit code is; nothing of the command is left running.
///
/// # Cancellation
/// `execute` ends the command and everything that it started, then fails with `Canceled` or
/// `Timeout`, commit unknown. An interrupted `write` leaves the old file or the new one.
#[async_trait]
pub trait WorkspaceSession: Send + Sync {
    /// A few lines about the workspace, for a model.
    async fn describe(&self, operation: &OperationContext) -> Result<String, PortFailure>;

    /// The bytes of a file.
    async fn read(&self, operation: &OperationContext, path: &str) -> Result<Vec<u8>, PortFailure>;

    /// Replaces or makes a file.
    async fn write(
        &self,
        operation: &OperationContext,
        path: &str,
        content: &[u8],
    ) -> Result<(), PortFailure>;

    /// The entries of a folder, one level.
    async fn list(
        &self,
        operation: &OperationContext,
        path: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure>;

    /// Lines below `path` that contain `query` literally.
    async fn search(
        &self,
        operation: &OperationContext,
        path: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>, PortFailure>;

    /// Runs a command to its end.
    async fn execute(
        &self,
        operation: &OperationContext,
        request: CommandRequest,
    ) -> Result<CommandOutput, PortFailure>;
}
