//! Decides why a stored run is not taken up.
//!
//! Knows versions, digests and places; never says what a damaged run holds, which may be anything.

use thiserror::Error;

/// Why a stored run cannot be taken up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It is no stored run, or it is damaged.
    #[error("this is no stored run, or it is damaged: {reason}")]
    Malformed {
        /// What was found.
        reason: String,
    },
    /// It was stored by another version of the runtime.
    #[error("the run was stored in version {found}, and this runtime reads version {known}")]
    Version {
        /// Version that was found.
        found: u64,
        /// Version that can be read.
        known: u64,
    },
    /// It belongs to another agent, or to another version of it.
    #[error(
        "the run belongs to an agent of definition {found}, not {offered}; build the agent as it was: \
         name, model, instructions, tools, policy, limits, hooks"
    )]
    OtherDefinition {
        /// Digest that the run was stored with.
        found: String,
        /// Digest of the definition that was offered.
        offered: String,
    },
}

impl LoadError {
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        let what = match error.classify() {
            serde_json::error::Category::Data => "a value that does not belong there",
            serde_json::error::Category::Eof => "an end that comes too early",
            _ => "no JSON",
        };
        Self::malformed(format!("{what}, at line {} column {}", error.line(), error.column()))
    }

    pub(crate) fn malformed(reason: impl std::fmt::Display) -> Self {
        Self::Malformed { reason: reason.to_string() }
    }
}
