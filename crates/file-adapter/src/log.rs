//! Decides how records reach the one file that all processes share, and how they are read back.
//!
//! Knows locks, offsets and fsync. Refuses to know what may be recorded; the ledger judges that
//! under the lock. Invariant: `Ok` means that the record is on disk, and that whoever reads the
//! file from now on counts it.

use std::{
    fs::File,
    io::{self, BufReader, Seek, SeekFrom, Write},
    path::Path,
    time::Duration,
};

use crate::{
    damage::DamageList,
    failure::FileError,
    folder::Folder,
    gate::Gate,
    ledger::{Ledger, Novelty},
    lines::{self, Found},
    lock,
    owner::Owner,
    record::{Change, RECORD_VERSION, Record, Unreadable},
    reserve,
};

/// The file that holds the records.
pub(crate) const RECEIPTS: &str = "receipts.jsonl";
const OWNERS: &str = "owners";

/// How long opening waits for the lock.
const OPENING_PATIENCE: Duration = Duration::from_secs(10);
const READ_BUFFER: usize = 64 << 10;

/// Ends a line that its writer left without an end. No record ends with it, so that what was left
/// behind never turns into a record.
const TORN_END: &str = "~\n";

/// The shared file with everything read from it so far.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    folder: Folder,
    pub(crate) owner: Owner,
    ledger: Ledger,
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

impl Log {
    /// Opens the log in `folder` and reads it.
    pub(crate) fn open(folder: &Path, damage: DamageList) -> Result<Self, FileError> {
        let folder = Folder::make(folder)?;
        let file = folder.file_to_append(RECEIPTS)?;
        let synced = folder.sync();
        synced.map_err(|source| FileError::Open { path: folder.path_of(RECEIPTS), source })?;
        let gate = Gate::lasting(OPENING_PATIENCE);
        let owner = {
            let _held = lock::exclusive(&file, &gate)?;
            let owners = folder.make_inside(OWNERS)?;
            Owner::sweep(&owners);
            Owner::claim(owners)?
        };
        let mut log = Self {
            file,
            folder,
            owner,
            ledger: Ledger::default(),
            damage,
            read_to: 0,
            lines: 0,
            ends_torn: false,
            is_poisoned: false,
            #[cfg(test)]
            sync_fails: false,
        };
        log.read(&gate, |_, _| ())?;
        Ok(log)
    }

    /// Looks at what is recorded, other processes' records included, and at who is alive. Nobody
    /// can record anything meanwhile.
    pub(crate) fn read<T>(
        &mut self,
        gate: &Gate,
        look: impl FnOnce(&Ledger, &Owner) -> T,
    ) -> Result<T, FileError> {
        let _held = lock::shared(&self.file, gate)?;
        self.catch_up()?;
        Ok(look(&self.ledger, &self.owner))
    }

    /// Records a change. One that is known already is only made durable: its writer may have died
    /// before it was.
    pub(crate) fn record(&mut self, gate: &Gate, change: Change) -> Result<(), FileError> {
        if self.is_poisoned {
            return Err(FileError::Poisoned);
        }
        let record = Record { version: RECORD_VERSION, owner: self.owner.id, change };
        let line = record.to_line()?;
        let _held = lock::exclusive(&self.file, gate)?;
        self.catch_up()?;
        let novelty = self.ledger.judge(&record.change)?;
        if novelty == Novelty::New {
            self.refuse_foreign(&record.change)?;
            self.make_room(&record.change)?;
        }
        gate.pass()?;
        // Until the record is known to be on disk, nobody knows what the file holds.
        self.is_poisoned = true;
        let recorded = match novelty {
            Novelty::New => self.append(&line, &record.change),
            Novelty::Repeated => self.sync(),
        };
        self.is_poisoned = !matches!(recorded, Ok(()) | Err(FileError::Full { .. }));
        recorded
    }

    fn refuse_foreign(&self, change: &Change) -> Result<(), FileError> {
        let owner = self.ledger.owner_of(change).filter(|owner| *owner != self.owner.id);
        if owner.is_some_and(|owner| self.owner.is_alive(owner)) {
            return Err(FileError::OwnedElsewhere);
        }
        Ok(())
    }

    /// A turn may begin only while there is room for what follows it.
    fn make_room(&self, change: &Change) -> Result<(), FileError> {
        if !matches!(change, Change::Opened { .. }) {
            return Ok(());
        }
        let reserved = reserve::ahead_of(&self.file, self.read_to, self.ledger.open_count() + 1);
        reserved.map_err(|source| self.write_error(source))
    }

    fn append(&mut self, line: &str, change: &Change) -> Result<(), FileError> {
        let end = self.file.seek(SeekFrom::End(0)).map_err(|source| self.write_error(source))?;
        let line = if self.ends_torn { format!("{TORN_END}{line}") } else { line.to_owned() };
        if let Err(source) = self.file.write_all(line.as_bytes()) {
            return Err(self.cut_back(end, source));
        }
        self.sync()?;
        let confirmed = self.catch_up().and_then(|()| self.ledger.judge(change));
        match confirmed {
            Ok(Novelty::Repeated) => Ok(()),
            Ok(Novelty::New) | Err(_) => Err(FileError::Unconfirmed),
        }
    }

    /// Takes back what was written of a line that found no room. Its line feed was not written, so
    /// it counts for nobody either way; without it the file is as it was.
    fn cut_back(&self, end: u64, source: io::Error) -> FileError {
        let cut = self.file.set_len(end);
        // Cutting also gives up what was reserved for the turns that are open.
        let _ = reserve::ahead_of(&self.file, end, self.ledger.open_count());
        match (self.write_error(source), cut) {
            (FileError::Full { path, source }, Err(_)) => FileError::Write { path, source },
            (error, _) => error,
        }
    }

    fn sync(&self) -> Result<(), FileError> {
        #[cfg(test)]
        if self.sync_fails {
            let source = io::Error::other("a fault of the test");
            return Err(FileError::Sync { path: self.path(), source });
        }
        let synced = self.file.sync_data();
        synced.map_err(|source| FileError::Sync { path: self.path(), source })
    }

    /// Reads what was added since the last time. The caller holds a lock.
    fn catch_up(&mut self) -> Result<(), FileError> {
        self.check_identity()?;
        let mut file = self.file.try_clone().map_err(|source| self.read_error(source))?;
        let start = SeekFrom::Start(self.read_to);
        file.seek(start).map_err(|source| self.read_error(source))?;
        let mut reader = BufReader::with_capacity(READ_BUFFER, file);
        let mut line = Vec::new();
        loop {
            let next = lines::next(&mut reader, &mut line);
            let (found, bytes) = next.map_err(|source| self.read_error(source))?;
            match found {
                Found::Line => self.take_line(&line)?,
                Found::Overlong => self.damage.add(self.lines + 1, "the line is too long"),
                Found::Torn | Found::End => {
                    self.ends_torn = found == Found::Torn;
                    self.damage.set_torn_tail(self.lines + 1, self.ends_torn);
                    return Ok(());
                }
            }
            self.lines += 1;
            self.read_to += bytes;
        }
    }

    fn take_line(&mut self, line: &[u8]) -> Result<(), FileError> {
        let reason = match Record::from_line(line) {
            Ok(record) => match self.ledger.apply(record) {
                Ok(()) => return Ok(()),
                Err(_) => "the record contradicts those before it",
            },
            Err(Unreadable::Newer(version)) => return Err(FileError::NewerVersion(version)),
            Err(Unreadable::Damaged(reason)) => reason,
        };
        self.damage.add(self.lines + 1, reason);
        if let Some(record) = Record::last_in(line) {
            // A contradiction within the damaged line is part of the damage that is listed.
            let _ = self.ledger.apply(record);
        }
        Ok(())
    }

    /// Whoever moves, replaces or cuts the file takes it away from those who have it open: what
    /// they would write into it, nobody would find.
    fn check_identity(&self) -> Result<(), FileError> {
        let length = self.file.metadata().map_err(|source| self.read_error(source))?.len();
        let is_there = self.folder.holds(RECEIPTS, &self.file);
        if is_there.map_err(|source| self.read_error(source))? && length >= self.read_to {
            Ok(())
        } else {
            Err(FileError::Replaced)
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path_of(RECEIPTS)
    }

    fn read_error(&self, source: io::Error) -> FileError {
        FileError::Read { path: self.path(), source }
    }

    fn write_error(&self, source: io::Error) -> FileError {
        FileError::write(self.path(), source)
    }
}
