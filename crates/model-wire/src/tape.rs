//! Decides how what is said over the wire is kept in a file, and played back from it.
//!
//! Knows HTTP exchanges as bytes. Refuses to know any vendor's API, who asks, and what an answer
//! means. Invariants: no header of a request and no secret is ever in a tape; a replay touches no
//! network, and answers nothing but what was asked then.
//!
//! A tape is a file of JSON lines: first its version, then notes of whoever recorded, and one line
//! for each exchange when it is over, written whole before its answer is handed on. A process that
//! is killed leaves a tape that is good up to the last exchange that had ended.

mod compare;
mod line;
mod recorder;
mod recording;
mod replay;
mod secrets;
mod taped;

use std::{path::PathBuf, sync::Arc};

use runtime_ports::{PortFailure, PortFailureKind};
use thiserror::Error;

pub(crate) use line::{End, millis};
pub use recorder::Recorder;
pub(crate) use recording::Recording;
pub use replay::Replay;
pub(crate) use secrets::Secrets;
pub(crate) use taped::TapedAnswer;

/// Whether what is said is recorded, or replayed.
#[derive(Debug, Clone, Default)]
pub enum Tape {
    /// Neither: requests go over the network, and nothing is kept.
    #[default]
    None,
    /// Requests go over the network, and every exchange is kept.
    Record(Arc<Recorder>),
    /// There is no network: a tape answers.
    Replay(Arc<Replay>),
}

/// Why a tape cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TapeError {
    /// There is a file already.
    #[error("the tape {0} exists already; name another file, or remove it")]
    Exists(PathBuf),
    /// Nothing can be written there.
    #[error("the tape {path} cannot be written: {reason}")]
    Unwritable {
        /// Where.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Nothing can be read there.
    #[error("the tape {path} cannot be read: {reason}")]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A line is not what a recorder writes.
    #[error("line {line} of the tape is damaged: {reason}; record again")]
    Damaged {
        /// Which, from 1.
        line: usize,
        /// In which way, without any of the text.
        reason: String,
    },
    /// It is of another version.
    #[error("the tape has version {found}, and this program reads version {known}; record again")]
    Version {
        /// The version of the tape.
        found: String,
        /// The version that is known.
        known: u64,
    },
    /// An answer has more bytes than a tape takes.
    #[error("an answer has more than {0} MiB, which is more than a tape takes")]
    TooLarge(usize),
}

impl TapeError {
    /// The failure of a request that is not sent because it could not be recorded.
    fn failure(&self) -> PortFailure {
        let message = format!("{self}; nothing more is sent that would not be recorded");
        PortFailure::not_sent(PortFailureKind::Internal, "TAPE_FAILED", message)
    }
}
