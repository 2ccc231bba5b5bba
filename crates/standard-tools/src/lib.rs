//! Tools over the ports: list, read, search, write, run a command, read what was kept.
//!
//! Knows how files and commands of a workspace are offered to a model: names, schemas, the JSON of
//! the results. Refuses to know where the workspace is, who allowed a call, and which loop asks.
//!
//! Invariant: every result is one JSON object, whole and within the tool's output limit; every
//! failure that a model can act on is a reply with a code and a sentence, every other one is the
//! port's failure with its disposition.
//!
//! | tool | effect | result |
//! |---|---|---|
//! | `list_files` | none | `path`, `kind`, `entries` of `{path, kind, bytes}`, `truncated`; of folders passed over also `skipped`, `skipped_count` |
//! | `read_file` | none | `path`, `lines`, `bytes`, `from_line`, `to_line`, `truncated`, `content` |
//! | `search_files` | none | `matches` as `path:line:text`, `skipped`, `truncated` |
//! | `write_file` | files of the workspace | `path`, `bytes` |
//! | `run_command` | a process | `exit_code`, `stdout`, `stderr`, `truncated` |
//! | `read_artifact` | none | `digest`, `offset`, `next_offset`, `content`; by lines also `from_line`, `to_line` |
//!
//! The last one is for runs whose long outputs are kept as artifacts, and comes by itself:
//! [`artifact_tool`].
//!
//! # Examples
//! ```
//! let names: Vec<_> = standard_tools::standard_tools()
//!     .iter()
//!     .map(|tool| tool.descriptor().definition.name.clone())
//!     .collect();
//! assert_eq!(names, ["list_files", "read_file", "search_files", "write_file", "run_command"]);
//! ```

mod declared;
mod fitted;
mod list_files;
mod read_artifact;
mod read_file;
mod reply;
mod run_command;
mod search_files;
mod write_file;

use std::sync::Arc;

pub use read_artifact::READ_ARTIFACT;
use runtime_ports::Tool;

/// The five tools of a workspace, in the order in which they are offered.
#[must_use]
pub fn standard_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(list_files::ListFiles::new()),
        Arc::new(read_file::ReadFile::new()),
        Arc::new(search_files::SearchFiles::new()),
        Arc::new(write_file::WriteFile::new()),
        Arc::new(run_command::RunCommand::new()),
    ]
}

/// The tool [`READ_ARTIFACT`]: reads an output that was cut and kept in the artifact store of the
/// tool's world, by the digest that the cut names. Give it to every run whose world keeps artifacts.
#[must_use]
pub fn artifact_tool() -> Arc<dyn Tool> {
    Arc::new(read_artifact::ReadArtifact::new())
}

#[cfg(test)]
mod tests;
