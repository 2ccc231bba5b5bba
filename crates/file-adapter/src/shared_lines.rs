//! Decides how lines reach one file that several processes share, and how they are read back.
//!
//! Knows locks, offsets and fsync; refuses to know what the lines say. Invariant: after an append
//! that returned `Ok` its lines are on disk, and whoever reads the file from now on finds them.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::PathBuf,
};

use crate::{
    damage::DamageList,
    failure::FileError,
    folder::Folder,
    gate::Gate,
    lines::{self, Found},
    lock::{self, Held},
};

const READ_BUFFER: usize = 64 << 10;

/// Ends a line that its writer left without an end. No record ends with it, so that what was left
/// behind never turns into a record.
const TORN_END: &str = "~\n";

/// A shared file of lines, with how far it was read.
#[derive(Debug)]
pub(crate) struct SharedLines {
    file: File,
    folder: Folder,
    name: &'static str,
    damage: DamageList,
    /// Bytes that were read, up to the end of a line.
    read_to: u64,
    lines: u64,
    /// Whether the file ends in the middle of a line.
    ends_torn: bool,
    is_poisoned: bool,
    /// Makes syncs fail, for tests.
    #[cfg(test)]
    pub(crate) sync_fails: bool,
}

impl SharedLines {
    /// Opens the file `name`, made if it is missing. Nothing of it is read yet.
    pub(crate) fn open(
        folder: Folder,
        name: &'static str,
        damage: DamageList,
    ) -> Result<Self, FileError> {
        let file = folder.file_to_append(name)?;
        let synced = folder.sync();
        synced.map_err(|source| FileError::Open { path: folder.path_of(name), source })?;
        Ok(Self {
            file,
            folder,
            name,
            damage,
            read_to: 0,
            lines: 0,
            ends_torn: false,
            is_poisoned: false,
            #[cfg(test)]
            sync_fails: false,
        })
    }

    pub(crate) const fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Where what was read ends.
    pub(crate) const fn read_to(&self) -> u64 {
        self.read_to
    }

    /// Keeps every other process out.
    pub(crate) fn lock(&self, gate: &Gate) -> Result<Held, FileError> {
        lock::exclusive(&self.file, gate)
    }

    /// Keeps those out who want to write.
    pub(crate) fn lock_shared(&self, gate: &Gate) -> Result<Held, FileError> {
        lock::shared(&self.file, gate)
    }

    /// Refuses to go on after a failure that left unknown what the file holds.
    pub(crate) const fn check_trust(&self) -> Result<(), FileError> {
        if self.is_poisoned { Err(FileError::Poisoned) } else { Ok(()) }
    }

    /// Changes the file with `change`. Until that is known to be on disk, nobody knows what the
    /// file holds.
    pub(crate) fn trusted(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        self.is_poisoned = true;
        let changed = change(self);
        self.is_poisoned = !matches!(changed, Ok(()) | Err(FileError::Full { .. }));
        changed
    }

    /// Writes whole lines to the end and makes them durable. The caller holds the lock.
    pub(crate) fn append(&mut self, lines: &str) -> Result<(), FileError> {
        let end = self.file.seek(SeekFrom::End(0)).map_err(|source| self.write_error(source))?;
        let begin = if self.ends_torn { TORN_END } else { "" };
        if let Err(source) = self.file.write_all(format!("{begin}{lines}").as_bytes()) {
            return Err(self.cut_back(end, source));
        }
        self.sync()
    }

    /// Takes back what was written of lines that found no room. What of them has a line feed was
    /// read by nobody: the lock is held.
    fn cut_back(&self, end: u64, source: io::Error) -> FileError {
        match (self.write_error(source), self.file.set_len(end)) {
            (FileError::Full { path, source }, Err(_)) => FileError::Write { path, source },
            (error, _) => error,
        }
    }

    /// Makes durable what the file holds.
    pub(crate) fn sync(&self) -> Result<(), FileError> {
        #[cfg(test)]
        if self.sync_fails {
            let source = io::Error::other("a fault of the test");
            return Err(FileError::Sync { path: self.path(), source });
        }
        let synced = self.file.sync_data();
        synced.map_err(|source| FileError::Sync { path: self.path(), source })
    }

    /// Reads what was added since the last time. `take` says why a line is of no use, if it is not;
    /// its error ends the reading. The caller holds a lock.
    pub(crate) fn catch_up(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<Option<&'static str>, FileError>,
    ) -> Result<(), FileError> {
        self.check_identity()?;
        let mut file = self.file.try_clone().map_err(|source| self.read_error(source))?;
        let start = SeekFrom::Start(self.read_to);
        file.seek(start).map_err(|source| self.read_error(source))?;
        let mut reader = BufReader::with_capacity(READ_BUFFER, file);
        let mut line = Vec::new();
        loop {
            let next = lines::next(&mut reader, &mut line);
            let (found, bytes) = next.map_err(|source| self.read_error(source))?;
            let damage = match found {
                Found::Line => take(&line)?,
                Found::Overlong => Some("the line is too long"),
                Found::Torn | Found::End => {
                    self.ends_torn = found == Found::Torn;
                    self.damage.set_torn_tail(self.lines + 1, self.ends_torn);
                    return Ok(());
                }
            };
            if let Some(reason) = damage {
                self.damage.add(self.lines + 1, reason);
            }
            self.lines += 1;
            self.read_to += bytes;
        }
    }

    /// Shows all lines that were read so far once more. The caller holds a lock.
    pub(crate) fn read_again(&self, mut show: impl FnMut(&[u8])) -> Result<(), FileError> {
        let mut file = self.file.try_clone().map_err(|source| self.read_error(source))?;
        file.seek(SeekFrom::Start(0)).map_err(|source| self.read_error(source))?;
        let mut reader = BufReader::with_capacity(READ_BUFFER, file.take(self.read_to));
        let mut line = Vec::new();
        loop {
            let next = lines::next(&mut reader, &mut line);
            match next.map_err(|source| self.read_error(source))?.0 {
                Found::Line => show(&line),
                Found::Overlong => {}
                Found::Torn | Found::End => return Ok(()),
            }
        }
    }

    /// Whoever moves, replaces or cuts the file takes it away from those who have it open: what
    /// they would write into it, nobody would find.
    fn check_identity(&self) -> Result<(), FileError> {
        let length = self.file.metadata().map_err(|source| self.read_error(source))?.len();
        let is_there = self.folder.holds(self.name, &self.file);
        if is_there.map_err(|source| self.read_error(source))? && length >= self.read_to {
            Ok(())
        } else {
            Err(FileError::Replaced(self.name))
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path_of(self.name)
    }

    fn read_error(&self, source: io::Error) -> FileError {
        FileError::Read { path: self.path(), source }
    }

    /// What a failed write of this file is.
    pub(crate) fn write_error(&self, source: io::Error) -> FileError {
        FileError::write(self.path(), source)
    }
}
