//! Decides what a path names, walking the folder one name at a time.
//!
//! Knows nothing about contents. Invariant: every step opens one plain name of an open folder and
//! follows no link in the kernel, so that no race between looking and opening can lead out. Links
//! are followed here, by name, and only for reading: a target that is absolute or climbs above the
//! root is refused before it is looked at.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    io,
    path::{Component, Path},
};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, Metadata, MetadataExt};
use runtime_ports::PortFailure;

use crate::{
    failure,
    path::{WorkspacePath, shown},
    protected::{self, Access},
};

const MAX_LINKS: usize = 40;
const MAX_FOLDERS: usize = 128;

/// Identity of a folder on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FolderIdentity {
    device: u64,
    inode: u64,
}

impl FolderIdentity {
    pub(crate) fn of_dir(metadata: &Metadata) -> Self {
        Self::of(metadata.dev(), metadata.ino())
    }

    pub(crate) fn of(device: u64, inode: u64) -> Self {
        Self { device, inode }
    }
}

/// Where every walk begins, and where none may go.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) folder: Dir,
    /// Owner of the folder, whose files are nobody else's.
    pub(crate) owner: u32,
    pub(crate) kept_out: Vec<FolderIdentity>,
}

/// A folder that was walked to.
pub(crate) struct Folder {
    trail: Vec<(OsString, Dir)>,
}

/// What a path names.
pub(crate) enum Place {
    /// A folder, the root included.
    Folder(Folder),
    /// Something that is no folder, named in one. Not yet opened.
    Entry { parent: Folder, name: OsString, metadata: Metadata },
    /// Nothing; the names that are missing below a folder that exists, at least one.
    Missing { parent: Folder, names: Vec<OsString> },
}

impl Root {
    /// Walks to a path.
    pub(crate) fn find(&self, path: &WorkspacePath, access: Access) -> Result<Place, PortFailure> {
        let ahead: VecDeque<_> = path.names().iter().map(OsString::from).collect();
        // Before any I/O: a protected name is refused whether or not it is there.
        if ahead.iter().any(|name| protected::is_protected(name, access)) {
            return Err(failure::protected(access));
        }
        let walk = Walk { root: self, access, trail: Vec::new(), ahead, links: 0 };
        walk.finish()
    }

    /// Walks to a folder for reading.
    pub(crate) fn find_folder(&self, path: &WorkspacePath) -> Result<Folder, PortFailure> {
        match self.find(path, Access::Read)? {
            Place::Folder(folder) => Ok(folder),
            Place::Entry { .. } => Err(failure::not_a_folder()),
            Place::Missing { .. } => Err(failure::not_found()),
        }
    }

    /// Whether an open folder is kept from the agent, whatever its name: by the host, or because
    /// it is the inside of a repository.
    pub(crate) fn keeps_out(&self, dir: &Dir) -> io::Result<bool> {
        let is_kept = !self.kept_out.is_empty() && {
            let metadata = dir.dir_metadata()?;
            self.kept_out.contains(&FolderIdentity::of_dir(&metadata))
        };
        Ok(is_kept || protected::is_repository_inside(|name| dir.symlink_metadata(name).is_ok()))
    }
}

impl Folder {
    /// The folder itself.
    pub(crate) fn dir<'a>(&'a self, root: &'a Root) -> &'a Dir {
        self.trail.last().map_or(&root.folder, |(_, dir)| dir)
    }

    /// The folders from the root down to this one, each with its name; the root is left out.
    pub(crate) fn trail(&self) -> &[(OsString, Dir)] {
        &self.trail
    }

    /// Path of an entry of this folder, as a caller is shown it.
    pub(crate) fn path_of(&self, name: &OsStr) -> String {
        joined(&self.path(), name)
    }

    /// Path of this folder, as a caller is shown it; empty for the root.
    pub(crate) fn path(&self) -> String {
        self.trail.iter().fold(String::new(), |path, (name, _)| joined(&path, name))
    }

    /// Enters a folder that was just made here.
    pub(crate) fn enter(&mut self, root: &Root, name: &OsStr) -> io::Result<()> {
        let dir = self.dir(root).open_dir_nofollow(name)?;
        self.trail.push((name.to_owned(), dir));
        Ok(())
    }
}

/// A path and a name below it, as a caller is shown it.
pub(crate) fn joined(path: &str, name: &OsStr) -> String {
    let name = shown(&name.to_string_lossy());
    if path.is_empty() { name } else { format!("{path}/{name}") }
}

struct Walk<'a> {
    root: &'a Root,
    access: Access,
    trail: Vec<(OsString, Dir)>,
    ahead: VecDeque<OsString>,
    links: usize,
}

impl Walk<'_> {
    fn finish(mut self) -> Result<Place, PortFailure> {
        while let Some(name) = self.ahead.pop_front() {
            if name == ".." {
                self.climb()?;
                continue;
            }
            if protected::is_protected(&name, self.access) {
                return Err(failure::protected(self.access));
            }
            match self.here().symlink_metadata(&name) {
                Ok(metadata) if metadata.is_symlink() => self.follow(&name)?,
                Ok(metadata) if metadata.is_dir() => self.descend(name)?,
                Ok(metadata) => return self.arrive(name, metadata),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return self.miss(name),
                Err(error) => return Err(failure::from_io(&error)),
            }
        }
        Ok(Place::Folder(Folder { trail: self.trail }))
    }

    fn here(&self) -> &Dir {
        self.trail.last().map_or(&self.root.folder, |(_, dir)| dir)
    }

    fn climb(&mut self) -> Result<(), PortFailure> {
        self.trail.pop().map(drop).ok_or_else(failure::outside)
    }

    fn descend(&mut self, name: OsString) -> Result<(), PortFailure> {
        if self.trail.len() >= MAX_FOLDERS {
            return Err(failure::outside());
        }
        let dir = self.here().open_dir_nofollow(&name).map_err(|error| swapped(&error))?;
        if self.root.keeps_out(&dir).map_err(|error| failure::from_io(&error))? {
            return Err(failure::protected(self.access));
        }
        self.trail.push((name, dir));
        Ok(())
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), PortFailure> {
        self.links += 1;
        if self.access == Access::Write {
            return Err(failure::through_link());
        }
        if self.links > MAX_LINKS {
            return Err(failure::outside());
        }
        let target = self.here().read_link_contents(name).map_err(|error| swapped(&error))?;
        for name in names_of(&target)?.into_iter().rev() {
            self.ahead.push_front(name);
        }
        Ok(())
    }

    fn arrive(self, name: OsString, metadata: Metadata) -> Result<Place, PortFailure> {
        if !self.ahead.is_empty() {
            return Err(failure::not_found());
        }
        Ok(Place::Entry { parent: Folder { trail: self.trail }, name, metadata })
    }

    fn miss(self, name: OsString) -> Result<Place, PortFailure> {
        let names = std::iter::once(name).chain(self.ahead).collect();
        Ok(Place::Missing { parent: Folder { trail: self.trail }, names })
    }
}

/// The names of a link's target; `..` stays, since the walk climbs by itself.
fn names_of(target: &Path) -> Result<Vec<OsString>, PortFailure> {
    let mut names = Vec::new();
    for component in target.components() {
        match component {
            Component::Normal(name) => names.push(name.to_owned()),
            Component::ParentDir => names.push(OsString::from("..")),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(failure::outside()),
        }
    }
    Ok(names)
}

/// What a name became between looking and opening: a link or a file is a refusal, not an error.
fn swapped(error: &io::Error) -> PortFailure {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => failure::from_io(error),
        _ => failure::outside(),
    }
}
