//! Decides in which words a model is told whether an effect took place.
//!
//! Knows nothing about which effect. Invariant: no failure reaches a model without these words, so
//! that no committed effect is repeated for want of them.

use runtime_ports::{CommitDisposition, PortFailure};

/// One clause for the model.
pub(crate) const fn in_words(commit: CommitDisposition) -> &'static str {
    match commit {
        CommitDisposition::NotCommitted => "nothing was changed",
        CommitDisposition::Committed => "it took effect, do not repeat it",
        CommitDisposition::Unknown => "it may have taken effect, verify before you repeat it",
    }
}

/// What is known of the effect behind an error: the disposition of the port failure among its
/// causes, else unknown.
pub(crate) fn of_error(error: &anyhow::Error) -> CommitDisposition {
    let failure = error.chain().find_map(|cause| cause.downcast_ref::<PortFailure>());
    failure.map_or(CommitDisposition::Unknown, |failure| failure.commit)
}
