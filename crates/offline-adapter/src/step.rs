//! Decides what a step of a task can be: calls of tools, or the answer.
//!
//! Knows the names of the tools that tasks need; refuses to know which step comes when.

use serde_json::Value;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Ask for these tools, in this order.
    Calls(Vec<(&'static str, Value)>),
    /// The task is done, or cannot be done; say so.
    Answer(String),
}

/// What is known, or the step that must come first.
pub(crate) type Progress<T> = Result<T, Step>;

pub(crate) const LIST: &str = "list_files";
pub(crate) const READ: &str = "read_file";
pub(crate) const SEARCH: &str = "search_files";
pub(crate) const WRITE: &str = "write_file";
