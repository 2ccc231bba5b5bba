//! Decides how folders and files of the user are opened: for the owner alone, through no link, and
//! only where nobody else can write. A group of the user's own number counts as the user.
//!
//! Knows modes, owners and flags; refuses to know what the files hold. Everything in a folder is
//! reached through its open handle, so that a folder that is moved or swapped meanwhile makes no
//! difference.

use std::{
    fs::File,
    io::{self, ErrorKind},
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
    process::{Uid, geteuid},
};

use crate::failure::FileError;

const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);
const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);

/// An open folder that belongs to this user and that nobody else can write to.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: File,
    path: PathBuf,
}

impl Folder {
    /// Opens `path`, made for the owner alone if it is missing, like those above it. The path
    /// itself may lead through links.
    pub(crate) fn make(path: &Path) -> Result<Self, FileError> {
        make_levels(path).map_err(|source| open_error(path, source))?;
        Self::existing(path)?.ok_or_else(|| open_error(path, ErrorKind::NotFound.into()))
    }

    /// Opens `path` if it is there.
    pub(crate) fn existing(path: &Path) -> Result<Option<Self>, FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::checked(rustix::fs::openat(CWD, path, flags, Mode::empty()), path.to_owned())
    }

    /// Opens the folder `name` in this one, made for the owner alone if it is missing.
    pub(crate) fn make_inside(&self, name: &str) -> Result<Self, FileError> {
        let path = self.path_of(name);
        let made = match rustix::fs::mkdirat(&self.handle, name, FOLDER_MODE) {
            Err(Errno::EXIST) => Ok(()),
            made => made.map_err(io::Error::from).and_then(|()| sync(&self.handle)),
        };
        made.map_err(|source| open_error(&path, source))?;
        self.inside(name)?.ok_or_else(|| open_error(&path, ErrorKind::NotFound.into()))
    }

    /// Opens the folder `name` in this one if it is there. A link in its place is refused.
    pub(crate) fn inside(&self, name: &str) -> Result<Option<Self>, FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.handle, name, flags, Mode::empty());
        Self::checked(opened, self.path_of(name))
    }

    /// Opens the file `name` for reading and appending, made for the owner alone if it is missing.
    /// One that others can read is closed to them.
    pub(crate) fn file_to_append(&self, name: &str) -> Result<File, FileError> {
        let path = self.path_of(name);
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        let file = self.open(name, flags).map_err(|source| open_error(&path, source))?;
        let stat = checked_file(&file, &path)?;
        if Mode::from_raw_mode(stat.st_mode).intersects(OTHERS) {
            let closed = rustix::fs::fchmod(&file, FILE_MODE);
            closed.map_err(|source| open_error(&path, source.into()))?;
        }
        Ok(file)
    }

    /// Opens the file `name` for reading; `None` if there is none. A link in its place is refused.
    pub(crate) fn file_to_read(&self, name: &str) -> Result<Option<File>, FileError> {
        let path = self.path_of(name);
        match self.open(name, OFlags::RDONLY) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(open_error(&path, source)),
            Ok(file) => checked_file(&file, &path).map(|_| Some(file)),
        }
    }

    /// Makes the file `name`, which must not be there, for writing by the owner alone.
    pub(crate) fn new_file(&self, name: &str) -> Result<File, FileError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        self.open(name, flags).map_err(|source| open_error(&self.path_of(name), source))
    }

    /// Whether `file` is what is found under `name` now.
    pub(crate) fn holds(&self, name: &str, file: &File) -> io::Result<bool> {
        let open = rustix::fs::fstat(file)?;
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(false),
            found => {
                Ok(found.map(|found| (found.st_dev, found.st_ino))? == (open.st_dev, open.st_ino))
            }
        }
    }

    /// Gives a file a new name, in place of what has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Makes the names in this folder durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        sync(&self.handle)
    }

    /// The names in this folder that are valid text, in no order.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.handle.as_fd())? {
            if let Ok(name) = entry?.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Where `name` is, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A special file such as a pipe must not make the call wait, hence `NONBLOCK`.
    fn open(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.handle, name, flags, FILE_MODE)?))
    }

    fn checked(
        opened: rustix::io::Result<std::os::fd::OwnedFd>,
        path: PathBuf,
    ) -> Result<Option<Self>, FileError> {
        let handle = match opened {
            Err(Errno::NOENT) => return Ok(None),
            opened => File::from(opened.map_err(|source| open_error(&path, source.into()))?),
        };
        let stat = rustix::fs::fstat(&handle).map_err(|source| open_error(&path, source.into()))?;
        check_rights(&stat, &path)?;
        Ok(Some(Self { handle, path }))
    }
}

/// Makes a folder and those above it. Each new name is synced in the folder that holds it.
fn make_levels(path: &Path) -> io::Result<()> {
    match rustix::fs::mkdirat(CWD, path, FOLDER_MODE) {
        Ok(()) => sync_name_of(path),
        Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty());
            make_levels(above.ok_or(Errno::NOENT)?)?;
            match rustix::fs::mkdirat(CWD, path, FOLDER_MODE) {
                Err(Errno::EXIST) => Ok(()),
                made => made.map_err(io::Error::from).and_then(|()| sync_name_of(path)),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn sync_name_of(path: &Path) -> io::Result<()> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    match File::open(above.unwrap_or(Path::new("."))) {
        // A folder may be writable and yet unreadable; its names cannot be synced then.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        opened => sync(&opened?),
    }
}

/// Some file systems know no sync of a folder; they say so, and nothing better can be done.
fn sync(folder: &File) -> io::Result<()> {
    match rustix::fs::fsync(folder) {
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        synced => Ok(synced?),
    }
}

fn checked_file(file: &File, path: &Path) -> Result<Stat, FileError> {
    let stat = rustix::fs::fstat(file).map_err(|source| open_error(path, source.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(FileError::Special { path: path.to_owned() });
    }
    check_rights(&stat, path)?;
    Ok(stat)
}

fn check_rights(stat: &Stat, path: &Path) -> Result<(), FileError> {
    // Root can write everywhere anyway.
    if stat.st_uid != geteuid().as_raw() && stat.st_uid != Uid::ROOT.as_raw() {
        return Err(FileError::Foreign { path: path.to_owned() });
    }
    let others = if is_private_group(stat) { Mode::WOTH } else { OTHERS_WRITE };
    if Mode::from_raw_mode(stat.st_mode).intersects(others) {
        return Err(FileError::Exposed { path: path.to_owned() });
    }
    Ok(())
}

/// Many systems give each user a group of the same number, with nobody else in it, and a umask that
/// lets that group write.
fn is_private_group(stat: &Stat) -> bool {
    stat.st_gid == stat.st_uid
}

fn open_error(path: &Path, source: io::Error) -> FileError {
    FileError::Open { path: path.to_owned(), source }
}
