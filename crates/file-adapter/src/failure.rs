//! Decides what a caller is told when a file fails.
//!
//! Knows which step failed. Invariant: the disposition is that of the record, not of the file: a
//! write that may have reached the disk is unknown.

use std::{io, path::PathBuf};

use runtime_ports::{PortFailure, PortFailureKind};
use thiserror::Error;

/// What went wrong with a file.
#[derive(Debug, Error)]
pub(crate) enum FileError {
    #[error("{path} could not be opened: {source}; check that it is yours and no link")]
    Open { path: PathBuf, source: io::Error },
    #[error("the receipts could not be read: {0}")]
    Read(io::Error),
    #[error("the receipts could not be locked: {0}")]
    Lock(io::Error),
    #[error("the record could not be written: {0}; free some space, then try again")]
    Write(io::Error),
    #[error("the record may or may not be on disk: {0}; open the store again before you go on")]
    Sync(io::Error),
    #[error("the store failed before and must be opened again")]
    Poisoned,
    #[error("receipts.jsonl has records of version {0}; use a newer release of this command")]
    NewerVersion(u16),
    #[error("the turn is already recorded with another value")]
    Conflict,
    #[error("the turn belongs to a process that is alive")]
    OwnedElsewhere,
    #[error("no such turn was opened")]
    UnknownTurn,
    #[error("there is no receipt with the id to list after")]
    UnknownPosition,
}

impl From<FileError> for PortFailure {
    fn from(error: FileError) -> Self {
        use PortFailureKind as Kind;
        let message = error.to_string();
        match error {
            FileError::Open { .. } => Self::not_sent(Kind::Unavailable, "FILE_OPEN", message),
            FileError::Read(_) => Self::not_sent(Kind::Unavailable, "FILE_READ", message),
            FileError::Lock(_) => Self::not_sent(Kind::Unavailable, "FILE_LOCK", message),
            FileError::Poisoned => Self::not_sent(Kind::Unavailable, "STORE_POISONED", message),
            FileError::Write(_) => {
                Self::in_flight_unknown(Kind::Unavailable, "FILE_WRITE", message)
            }
            FileError::Sync(_) => Self::in_flight_unknown(Kind::Unavailable, "FILE_SYNC", message),
            FileError::NewerVersion(_) => Self::rejected(Kind::Invalid, "NEWER_VERSION", message),
            FileError::Conflict => Self::rejected(Kind::Conflict, "RECEIPT_CONFLICT", message),
            FileError::OwnedElsewhere => Self::rejected(Kind::Conflict, "TURN_OWNED", message),
            FileError::UnknownTurn => Self::rejected(Kind::NotFound, "UNKNOWN_TURN", message),
            FileError::UnknownPosition => {
                Self::rejected(Kind::NotFound, "UNKNOWN_POSITION", message)
            }
        }
    }
}
