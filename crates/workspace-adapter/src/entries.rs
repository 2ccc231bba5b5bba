//! Decides what one folder shows, and in which order.
//!
//! Knows nothing about contents. Invariant: links are shown as what they are and never looked
//! through; what git would ignore, and `.git` itself, is not shown.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
};

use cap_std::fs::Dir;
use runtime_ports::{PortFailure, WorkspaceEntry};

use crate::{
    failure, file, ignored::IgnoreRules, limits::FolderLimits, path::WorkspacePath, place::Root,
    protected,
};

/// Code of the failure of a folder with more entries than allowed.
pub(crate) const TOO_MANY: &str = "TOO_MANY_ENTRIES";

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Folder,
    File(u64),
    Link,
    Other,
}

/// An entry that is shown.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: EntryKind,
}

/// Why a folder was not shown.
#[derive(Debug)]
pub(crate) enum Unlisted {
    /// More entries than allowed.
    TooMany,
    /// The file system failed.
    Failed(io::Error),
}

/// One level of a folder, sorted by path.
pub(crate) fn list(
    root: &Root,
    path: &WorkspacePath,
    limits: &FolderLimits,
) -> Result<Vec<WorkspaceEntry>, PortFailure> {
    let folder = root.find_folder(path)?;
    let rules = IgnoreRules::of(root, &folder);
    let entries = shown_entries(folder.dir(root), &rules, limits.folder_entries)
        .map_err(|unlisted| unlisted.told(limits.folder_entries))?;
    let mut shown: Vec<_> = entries
        .into_iter()
        .map(|entry| WorkspaceEntry {
            path: folder.path_of(&entry.name),
            is_dir: entry.kind == EntryKind::Folder,
            size: entry.kind.size(),
        })
        .collect();
    shown.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(shown)
}

/// The entries of an open folder that are shown, in no order.
pub(crate) fn shown_entries(
    dir: &Dir,
    rules: &IgnoreRules,
    max_entries: usize,
) -> Result<Vec<Entry>, Unlisted> {
    let mut shown = Vec::new();
    for (count, entry) in dir.entries()?.enumerate() {
        if count >= max_entries {
            return Err(Unlisted::TooMany);
        }
        let name = entry?.file_name();
        if protected::is_git(&name) || file::is_unfinished(&name) {
            continue;
        }
        // An entry that vanished meanwhile is no entry.
        let Some(kind) = kind_of(dir, &name) else { continue };
        if !rules.ignores(Path::new(&name), kind == EntryKind::Folder) {
            shown.push(Entry { name, kind });
        }
    }
    Ok(shown)
}

impl EntryKind {
    fn size(self) -> Option<u64> {
        match self {
            Self::File(bytes) => Some(bytes),
            Self::Folder | Self::Link | Self::Other => None,
        }
    }
}

impl Unlisted {
    pub(crate) fn told(&self, max_entries: usize) -> PortFailure {
        match self {
            Self::TooMany => failure::invalid(
                TOO_MANY,
                format!("folder has more than {max_entries} entries; list a folder below it"),
            ),
            Self::Failed(error) => failure::from_io(error),
        }
    }
}

impl From<io::Error> for Unlisted {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

fn kind_of(dir: &Dir, name: &OsStr) -> Option<EntryKind> {
    let metadata = dir.symlink_metadata(name).ok()?;
    Some(match metadata.file_type() {
        kind if kind.is_dir() => EntryKind::Folder,
        kind if kind.is_file() => EntryKind::File(metadata.len()),
        kind if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    })
}
