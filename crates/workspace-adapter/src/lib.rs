//! One local folder as a workspace; nothing outside it.
//!
//! Knows how to reach files below one folder without ever naming a path of the host, which names
//! an agent may not touch, what git would ignore, and how to run a command and end all of it.
//! Refuses to know who asks, what a human allowed, and which tools are built on this.
//!
//! Invariant: a file call never leaves the folder, whatever links, names or races it meets.
//! **Commands are not contained**: until there is a sandbox, a command can do whatever the user
//! can; it gets a clean environment and is ended with everything it started, no more than that.

#[cfg(not(unix))]
compile_error!("workspace-adapter needs a Unix system: links, process groups and file modes");

mod blocking;
mod command;
mod descendants;
mod entries;
mod environment;
mod failure;
mod file;
mod folder;
mod handles;
mod ignored;
mod limits;
mod output;
mod partial_output;
mod path;
mod place;
mod protected;
mod search;

pub use folder::FolderWorkspace;
pub use limits::FolderLimits;
