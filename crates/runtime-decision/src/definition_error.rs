//! Decides why a definition is refused before any run of it.
//!
//! Knows no run.

use thiserror::Error;

use crate::{TASK_FINISH, TOOL_NAME_MAX_BYTES};

/// Why a definition was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// Two tools have one name.
    #[error("two tools are called {name}; rename one of them")]
    DuplicateToolName {
        /// The name.
        name: String,
    },
    /// The name belongs to the bridge of the host-driven loops.
    #[error("{name} is the name of the bridge; give the tool another")]
    ReservedToolName {
        /// The name.
        name: String,
    },
    /// The name cannot be called.
    #[error("a tool's name has {bytes} bytes; give it 1 to {TOOL_NAME_MAX_BYTES}")]
    InvalidToolName {
        /// Length of the name, in bytes.
        bytes: usize,
    },
    /// Providers would refuse the name.
    #[error("the answer is called {name:?}; name it with 1 to 64 of A-Z, a-z, 0-9, _ and -")]
    InvalidAnswerName {
        /// The name.
        name: String,
    },
    /// The name belongs to a tool with which models delegate.
    #[error("{name} is the name of a tool that sub-agents bring; give the tool another")]
    DelegationToolName {
        /// The name.
        name: String,
    },
    /// Two sub-agents have one name.
    #[error("two sub-agents are called {name}; rename one of them")]
    DuplicateSubAgentName {
        /// The name.
        name: String,
    },
    /// The name cannot be called.
    #[error("a sub-agent's name has {bytes} bytes; give it 1 to {TOOL_NAME_MAX_BYTES}, not blank")]
    InvalidSubAgentName {
        /// Length of the name, in bytes.
        bytes: usize,
    },
    /// A run could not begin.
    #[error("max_cycles is 0; allow at least one cycle")]
    NoCycles,
    /// A run could not end.
    #[error("the no-tool policy continue needs the tool {TASK_FINISH}; register it")]
    NoWayToFinish,
}
