//! Decides how a refusal or an error of the file system is told to a caller.
//!
//! Knows nothing about which call failed. Invariant: every failure made here happened before the
//! effect, so it says "not committed"; no message holds a path or a content.

use std::io;

use runtime_ports::{PortFailure, PortFailureKind};
use rustix::io::Errno;

use crate::protected::Access;

/// The one answer to every path that leads, or might lead, out of the folder.
pub(crate) fn outside() -> PortFailure {
    refused(
        "PATH_REFUSED",
        "path is not inside the workspace; give a relative path of plain names that passes \
         through no link that leads out",
    )
}

/// A write whose path passes through a link.
pub(crate) fn through_link() -> PortFailure {
    // The same answer as for a path that leads out: where a link leads must not show.
    outside()
}

/// A name that the agent may not touch.
pub(crate) fn protected(access: Access) -> PortFailure {
    let message = match access {
        Access::Read => "name is protected and not shown to an agent; ask the user",
        Access::Write => "name is protected from changes by an agent; ask the user to change it",
    };
    refused("PROTECTED_NAME", message)
}

/// A hard link to somebody else's file.
pub(crate) fn foreign_link() -> PortFailure {
    refused("FOREIGN_HARD_LINK", "file is a hard link owned by another user; ask the user")
}

/// A file that nobody may write.
pub(crate) fn read_only_file() -> PortFailure {
    refused("READ_ONLY_FILE", "file is read-only; ask the user to make it writable")
}

/// Nothing is there.
pub(crate) fn not_found() -> PortFailure {
    PortFailure::rejected(
        PortFailureKind::NotFound,
        "NOT_FOUND",
        "no such file or folder; list the folder above to see what is there",
    )
}

/// A file was asked for, something else is there.
pub(crate) fn not_a_file() -> PortFailure {
    invalid("NOT_A_FILE", "not a regular file; name a regular file")
}

/// A file was asked for, a folder is there.
pub(crate) fn is_a_folder() -> PortFailure {
    invalid("IS_A_FOLDER", "this is a folder; list it, or name a file in it")
}

/// A folder was asked for, something else is there.
pub(crate) fn not_a_folder() -> PortFailure {
    invalid("NOT_A_FOLDER", "not a folder; name a folder, or read the file")
}

/// A request that cannot be served as it is.
pub(crate) fn invalid(code: &str, message: impl Into<String>) -> PortFailure {
    PortFailure::rejected(PortFailureKind::Invalid, code, message)
}

/// A fault of this crate, before the effect.
pub(crate) fn internal(code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(PortFailureKind::Internal, code, message)
}

/// What the file system answered, before any effect.
pub(crate) fn from_io(error: &io::Error) -> PortFailure {
    let Some(errno) = Errno::from_io_error(error) else {
        return match error.kind() {
            // cap-std reports an attempt to escape this way, without an errno.
            io::ErrorKind::PermissionDenied => outside(),
            kind => unavailable("IO_FAILED", format!("file system failed: {kind}")),
        };
    };
    match errno {
        Errno::NOENT | Errno::NOTDIR => not_found(),
        Errno::LOOP | Errno::XDEV | Errno::NAMETOOLONG => outside(),
        Errno::ISDIR => is_a_folder(),
        Errno::NXIO | Errno::NODEV => not_a_file(),
        Errno::ACCESS | Errno::PERM => refused(
            "PERMISSION_DENIED",
            "the system refuses access; ask the user to change the permissions",
        ),
        Errno::ROFS => refused("READ_ONLY_STORAGE", "storage is read-only; ask the user"),
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => {
            unavailable("STORAGE_FULL", "no space is left; free some and try again".to_owned())
        }
        _ => unavailable("IO_FAILED", format!("file system failed: {}", error.kind())),
    }
}

fn refused(code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(PortFailureKind::Forbidden, code, message)
}

fn unavailable(code: &str, message: String) -> PortFailure {
    PortFailure::rejected(PortFailureKind::Unavailable, code, message)
}
