//! Decides how one file is read, and how it is replaced.
//!
//! Knows nothing about paths beyond the last name. Invariant: a reader of the file sees the whole
//! old content or the whole new one; what shares its inode through a hard link never changes.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use runtime_ports::{PortFailure, PortFailureKind};
use rustix::{
    fs::{Gid, Mode, Uid, fchmod, fchown},
    io::Errno,
};

use crate::{
    blocking::Gate,
    failure,
    path::WorkspacePath,
    place::{Folder, Place, Root},
    protected::Access,
};

/// Begins the names of files that are being written. One that is left over was never complete.
const UNFINISHED_PREFIX: &str = ".agent-unfinished-";

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// No regular file.
    NotRegular,
    /// More bytes than allowed; its size.
    TooLarge(u64),
    /// A hard link to a file of a stranger.
    ForeignLink,
    /// The file system failed.
    Failed(io::Error),
}

/// Reads a whole file of at most `max_bytes`.
pub(crate) fn read(
    root: &Root,
    path: &WorkspacePath,
    max_bytes: u64,
) -> Result<Vec<u8>, PortFailure> {
    match root.find(path, Access::Read)? {
        Place::Folder(_) => Err(failure::is_a_folder()),
        Place::Missing { .. } => Err(failure::not_found()),
        Place::Entry { parent, name, .. } => read_entry(root, parent.dir(root), &name, max_bytes)
            .map_err(|unread| unread.told(max_bytes)),
    }
}

/// Reads a file of an open folder, following no link and waiting for no writer.
pub(crate) fn read_entry(
    root: &Root,
    dir: &Dir,
    name: &OsStr,
    max_bytes: u64,
) -> Result<Vec<u8>, Unread> {
    // Looked at before it is opened, since opening a device may already do something; and again
    // once it is open, since it may have been swapped.
    may_read(root, &dir.symlink_metadata(name)?, max_bytes)?;
    read_opened(root, dir, name, max_bytes)
}

/// Opens a file without waiting, and reads it if it is one.
pub(crate) fn read_opened(
    root: &Root,
    dir: &Dir,
    name: &OsStr,
    max_bytes: u64,
) -> Result<Vec<u8>, Unread> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = dir.open_with(name, &options)?;
    let metadata = file.metadata()?;
    may_read(root, &metadata, max_bytes)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    let read = file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)? as u64;
    if read > max_bytes { Err(Unread::TooLarge(read)) } else { Ok(bytes) }
}

/// Replaces or makes a file. Folders that were made on the way stay when the file fails.
pub(crate) fn write(
    root: &Root,
    path: &WorkspacePath,
    content: &[u8],
    gate: &Gate,
) -> Result<(), PortFailure> {
    match root.find(path, Access::Write)? {
        Place::Folder(_) => Err(failure::is_a_folder()),
        Place::Entry { parent, name, metadata } => {
            may_replace(&metadata)?;
            Replacement { dir: parent.dir(root), name: &name, old: Some(&metadata) }
                .perform(content, gate)
        }
        Place::Missing { mut parent, mut names } => {
            let Some(name) = names.pop() else { return Err(failure::is_a_folder()) };
            make_folders(root, &mut parent, &names).map_err(|error| failure::from_io(&error))?;
            Replacement { dir: parent.dir(root), name: &name, old: None }.perform(content, gate)
        }
    }
}

/// Whether the name is that of a file that is being written.
pub(crate) fn is_unfinished(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(UNFINISHED_PREFIX))
}

impl Unread {
    fn told(self, max_bytes: u64) -> PortFailure {
        match self {
            Self::NotRegular => failure::not_a_file(),
            Self::TooLarge(bytes) => failure::invalid(
                "FILE_TOO_LARGE",
                format!(
                    "file has {bytes} bytes or more, the limit is {max_bytes}; read a part of it \
                     with a command"
                ),
            ),
            Self::ForeignLink => failure::foreign_link(),
            Self::Failed(error) => failure::from_io(&error),
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

fn may_read(root: &Root, metadata: &Metadata, max_bytes: u64) -> Result<(), Unread> {
    let stranger = ![rustix::process::geteuid().as_raw(), root.owner].contains(&metadata.uid());
    match metadata {
        _ if !metadata.is_file() => Err(Unread::NotRegular),
        _ if metadata.nlink() > 1 && stranger => Err(Unread::ForeignLink),
        _ if metadata.len() > max_bytes => Err(Unread::TooLarge(metadata.len())),
        _ => Ok(()),
    }
}

fn may_replace(metadata: &Metadata) -> Result<(), PortFailure> {
    match metadata {
        _ if !metadata.is_file() => Err(failure::not_a_file()),
        _ if metadata.mode() & 0o222 == 0 => Err(failure::read_only_file()),
        _ => Ok(()),
    }
}

fn make_folders(root: &Root, parent: &mut Folder, names: &[OsString]) -> io::Result<()> {
    for name in names {
        match parent.dir(root).create_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        sync_folder(parent.dir(root))?;
        parent.enter(root, name)?;
    }
    Ok(())
}

fn sync_folder(dir: &Dir) -> io::Result<()> {
    dir.open(".")?.sync_all()
}

/// One file about to be replaced by a new one of the same name.
struct Replacement<'a> {
    dir: &'a Dir,
    name: &'a OsStr,
    old: Option<&'a Metadata>,
}

impl Replacement<'_> {
    fn perform(&self, content: &[u8], gate: &Gate) -> Result<(), PortFailure> {
        let unfinished = Unfinished::make(self.dir).map_err(|error| failure::from_io(&error))?;
        self.prepare(&unfinished.file, content).map_err(|error| failure::from_io(&error))?;
        if !gate.pass() {
            // Nobody hears this: the caller gave up and has its answer.
            return Err(failure::internal("ABANDONED", "the caller gave up before the write"));
        }
        unfinished.rename_to(self.name).map_err(|error| rename_failure(&error))?;
        sync_folder(self.dir).map_err(|_| not_synced())
    }

    fn prepare(&self, mut file: &File, content: &[u8]) -> io::Result<()> {
        if let Some(old) = self.old {
            let owner = (Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())));
            // Only root may give a file away; for everybody else it is theirs already or stays so.
            let _ = fchown(file, owner.0, owner.1);
            fchmod(file, Mode::from_raw_mode(old.mode() & 0o777))?;
        }
        file.write_all(content)?;
        file.sync_all()
    }
}

/// A new file under a name of its own, removed unless it was renamed.
struct Unfinished<'a> {
    dir: &'a Dir,
    name: String,
    file: File,
    is_renamed: bool,
}

impl<'a> Unfinished<'a> {
    fn make(dir: &'a Dir) -> io::Result<Self> {
        let name = format!("{UNFINISHED_PREFIX}{}", uuid::Uuid::new_v4().simple());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No).mode(0o666);
        let file = dir.open_with(&name, &options)?;
        Ok(Self { dir, name, file, is_renamed: false })
    }

    fn rename_to(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, self.dir, name)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // What cannot be removed stays as a name that is never shown.
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

fn rename_failure(error: &io::Error) -> PortFailure {
    match Errno::from_io_error(error) {
        Some(Errno::IO | Errno::STALE | Errno::TIMEDOUT) => PortFailure::in_flight_unknown(
            PortFailureKind::Unavailable,
            "IO_FAILED",
            "storage failed while the file was replaced; read the file before writing it again",
        ),
        _ => failure::from_io(error),
    }
}

fn not_synced() -> PortFailure {
    PortFailure::committed(
        PortFailureKind::Unavailable,
        "NOT_SYNCED",
        "file was replaced, but the storage did not confirm it; check the disk",
    )
}
