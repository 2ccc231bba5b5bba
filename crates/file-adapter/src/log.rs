//! Decides how records reach the one file that all processes share, and how they are read back.
//!
//! Knows locks, offsets and fsync. Refuses to know what may be recorded; the ledger judges that
//! under the lock. Invariant: `Ok` means that the record is on disk.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
};

use crate::{
    failure::FileError,
    ledger::{Damage, Ledger, Novelty},
    owner::Owner,
    private,
    record::{Change, RECORD_VERSION, Record},
};

/// The shared file with everything read from it so far.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    owner: Owner,
    ledger: Ledger,
    damage: Vec<Damage>,
    /// Bytes that were read, up to the end of a line.
    read_to: u64,
    lines: u64,
    /// Whether the file ends in the middle of a line.
    ends_torn: bool,
    is_poisoned: bool,
}

/// What closes a file lock.
struct Locked<'a>(&'a File);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Log {
    /// Opens the log in `folder` and reads it.
    pub(crate) fn open(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join("receipts.jsonl");
        let opened = |source| FileError::Open { path: path.clone(), source };
        private::make_folder(folder).map_err(opened)?;
        let file = private::open_for_append(&path).map_err(opened)?;
        private::sync_folder(folder).map_err(opened)?;
        let mut log = Self {
            file,
            owner: Owner::claim(&folder.join("owners"))?,
            ledger: Ledger::default(),
            damage: Vec::new(),
            read_to: 0,
            lines: 0,
            ends_torn: false,
            is_poisoned: false,
        };
        log.refresh()?;
        Ok(log)
    }

    /// What is recorded, other processes' records included.
    pub(crate) fn refreshed(&mut self) -> Result<&Ledger, FileError> {
        self.refresh()?;
        Ok(&self.ledger)
    }

    /// Lines that could not be used.
    pub(crate) fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Whether the owner of this id lives.
    pub(crate) fn is_alive(&self, owner: uuid::Uuid) -> bool {
        self.owner.is_alive(owner)
    }

    fn refresh(&mut self) -> Result<(), FileError> {
        let file = self.file.try_clone().map_err(FileError::Lock)?;
        file.lock_shared().map_err(FileError::Lock)?;
        let _locked = Locked(&file);
        self.catch_up()
    }

    /// Records a change, unless it is known already.
    pub(crate) fn record(&mut self, change: Change) -> Result<(), FileError> {
        if self.is_poisoned {
            return Err(FileError::Poisoned);
        }
        let file = self.file.try_clone().map_err(FileError::Lock)?;
        file.lock().map_err(FileError::Lock)?;
        let _locked = Locked(&file);
        self.catch_up()?;
        if self.ledger.judge(&change)? == Novelty::Repeated {
            return Ok(());
        }
        let owner = self.ledger.owner_of(&change).filter(|owner| *owner != self.owner.id);
        if owner.is_some_and(|owner| self.owner.is_alive(owner)) {
            return Err(FileError::OwnedElsewhere);
        }
        self.append(Record { version: RECORD_VERSION, owner: self.owner.id, change })
    }

    fn append(&mut self, record: Record) -> Result<(), FileError> {
        let mut line = record.to_line();
        if self.ends_torn {
            line.insert(0, '\n');
        }
        let written = self.file.write_all(line.as_bytes()).map_err(FileError::Write);
        let durable = written.and_then(|()| self.file.sync_data().map_err(FileError::Sync));
        // After a failed write or sync nobody knows what the disk holds: go on only after reopening.
        self.is_poisoned = durable.is_err();
        durable?;
        self.catch_up()
    }

    /// Reads what was added since the last time. The caller holds a lock.
    fn catch_up(&mut self) -> Result<(), FileError> {
        let mut added = Vec::new();
        self.file.seek(SeekFrom::Start(self.read_to)).map_err(FileError::Read)?;
        self.file.read_to_end(&mut added).map_err(FileError::Read)?;
        let whole = added.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for line in added[..whole].split_inclusive(|byte| *byte == b'\n') {
            self.take_line(&line[..line.len() - 1])?;
        }
        self.read_to += whole as u64;
        self.ends_torn = whole < added.len();
        Ok(())
    }

    fn take_line(&mut self, line: &[u8]) -> Result<(), FileError> {
        self.lines += 1;
        let text = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8");
        if let Ok(text) = text
            && let Some(version) = Record::version_of(text)
            && version > RECORD_VERSION
        {
            return Err(FileError::NewerVersion(version));
        }
        let taken = text.and_then(Record::from_line).and_then(|record| {
            self.ledger.apply(record).map_err(|_| "the record contradicts those before it")
        });
        if let Err(reason) = taken {
            tracing::warn!(line = self.lines, reason, "a receipt record was skipped");
            self.damage.push(Damage { line: self.lines, reason });
        }
        Ok(())
    }
}
