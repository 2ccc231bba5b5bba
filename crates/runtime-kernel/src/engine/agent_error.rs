//! Decides why an agent is refused before it ran.
//!
//! Knows no run.

use runtime_decision::DefinitionError;
use thiserror::Error;

/// Why an agent was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// Its parts do not fit together.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A name is none.
    #[error("the {what} of the agent is empty; name it")]
    Unnamed {
        /// `name` or `model`.
        what: &'static str,
    },
    /// The schema of the answer is malformed, or cannot be checked within bounds.
    #[error("the schema of the answer cannot be used: at {path:?}, {reason}")]
    InvalidAnswerSchema {
        /// Where in the schema, as a JSON pointer; empty is the whole.
        path: String,
        /// What is wrong there, and what to do.
        reason: String,
    },
    /// The input schema of a tool is malformed, or cannot be checked within bounds.
    #[error("the input schema of {tool} cannot be used: at {path:?}, {reason}")]
    InvalidSchema {
        /// Name of the tool.
        tool: String,
        /// Where in the schema, as a JSON pointer; empty is the whole.
        path: String,
        /// What is wrong there, and what to do.
        reason: String,
    },
}
