//! Decides what a caller is told when a file fails.
//!
//! Knows which step failed. Invariant: the disposition is that of the record, not of the file. A
//! record counts once its line feed is in the file, so a write that failed is not committed; one
//! whose sync failed is unknown.

use std::{io, path::PathBuf};

use runtime_ports::{PortFailure, PortFailureKind};
use thiserror::Error;

/// What went wrong with a file.
#[derive(Debug, Error)]
pub(crate) enum FileError {
    #[error("{path} could not be opened: {source}; check that it is yours and no link")]
    Open { path: PathBuf, source: io::Error },
    #[error("{path} belongs to another user; choose a folder of your own")]
    Foreign { path: PathBuf },
    #[error("{path} can be written by others; take that right away with `chmod go-w`")]
    Exposed { path: PathBuf },
    #[error("{path} is no regular file; move it away")]
    Special { path: PathBuf },
    #[error("{path} could not be read: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is longer than {limit} bytes; make it shorter")]
    TooLong { path: PathBuf, limit: u64 },
    #[error("{path} is not valid UTF-8; save it as UTF-8")]
    NotText { path: PathBuf },
    #[error("{path} could not be written: {source}; free some space, then try again")]
    Full { path: PathBuf, source: io::Error },
    #[error("{path} could not be written: {source}; look after the disk, then open it again")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path} may or may not be on disk: {source}; open it again before you go on")]
    Sync { path: PathBuf, source: io::Error },
    #[error("the record was written but does not read back; open the store again")]
    Unconfirmed,
    #[error("the file could not be locked: {0}")]
    Lock(io::Error),
    #[error("another process keeps the file locked; look for one that hangs")]
    Busy,
    #[error("the operation was over before the record was written")]
    GivenUp,
    #[error("the store failed before; open it again")]
    Poisoned,
    #[error("{0} was moved, replaced or cut while it was open; open the store again")]
    Replaced(&'static str),
    #[error("the file has records of version {0}; use a newer release of this command")]
    NewerVersion(u16),
    #[error("the record cannot be stored: {0}")]
    NotStorable(&'static str),
    #[error("the turn is already recorded with another value")]
    Conflict,
    #[error("another value was audited under this id; use a new id")]
    AuditConflict,
    #[error("the turn belongs to a process that is alive")]
    OwnedElsewhere,
    #[error("no such turn was opened")]
    UnknownTurn,
    #[error("there is no receipt with the id to list after")]
    UnknownPosition,
    #[error("no artifact has this digest")]
    UnknownArtifact,
}

impl FileError {
    /// A failed write. A full disk can be emptied; after anything else the file is not trusted.
    pub(crate) fn write(path: PathBuf, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::Full { path, source },
            _ => Self::Write { path, source },
        }
    }

    fn kind_and_code(&self) -> (PortFailureKind, &'static str) {
        use PortFailureKind as Kind;
        match self {
            Self::Open { .. } => (Kind::Unavailable, "FILE_OPEN"),
            Self::Foreign { .. } => (Kind::Forbidden, "FILE_FOREIGN"),
            Self::Exposed { .. } => (Kind::Forbidden, "FILE_EXPOSED"),
            Self::Special { .. } => (Kind::Forbidden, "FILE_SPECIAL"),
            Self::Read { .. } => (Kind::Unavailable, "FILE_READ"),
            Self::TooLong { .. } => (Kind::Invalid, "FILE_TOO_LONG"),
            Self::NotText { .. } => (Kind::Invalid, "FILE_NOT_TEXT"),
            Self::Full { .. } => (Kind::Unavailable, "FILE_FULL"),
            Self::Write { .. } => (Kind::Unavailable, "FILE_WRITE"),
            Self::Sync { .. } => (Kind::Unavailable, "FILE_SYNC"),
            Self::Unconfirmed => (Kind::Internal, "RECORD_UNCONFIRMED"),
            Self::Lock(_) => (Kind::Unavailable, "FILE_LOCK"),
            Self::Busy => (Kind::Unavailable, "FILE_BUSY"),
            Self::GivenUp => (Kind::Canceled, "CANCELED"),
            Self::Poisoned => (Kind::Unavailable, "STORE_POISONED"),
            Self::Replaced(_) => (Kind::Unavailable, "STORE_REPLACED"),
            Self::NewerVersion(_) => (Kind::Invalid, "NEWER_VERSION"),
            Self::NotStorable(_) => (Kind::Invalid, "NOT_STORABLE"),
            Self::Conflict => (Kind::Conflict, "RECEIPT_CONFLICT"),
            Self::AuditConflict => (Kind::Conflict, "AUDIT_CONFLICT"),
            Self::OwnedElsewhere => (Kind::Conflict, "TURN_OWNED"),
            Self::UnknownTurn => (Kind::NotFound, "UNKNOWN_TURN"),
            Self::UnknownPosition => (Kind::NotFound, "UNKNOWN_POSITION"),
            Self::UnknownArtifact => (Kind::NotFound, "UNKNOWN_ARTIFACT"),
        }
    }
}

impl From<FileError> for PortFailure {
    fn from(error: FileError) -> Self {
        let ((kind, code), message) = (error.kind_and_code(), error.to_string());
        match error {
            FileError::Sync { .. } | FileError::Unconfirmed => {
                Self::in_flight_unknown(kind, code, message)
            }
            FileError::Full { .. } | FileError::Busy => {
                Self::rejected(kind, code, message).retryable()
            }
            _ => Self::rejected(kind, code, message),
        }
    }
}
