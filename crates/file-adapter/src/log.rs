//! Decides how records of receipts reach the one file that all processes share, and how they are
//! read back.
//!
//! Knows what is done under which lock; refuses to know what may be recorded, which the ledger
//! judges, and how lines become durable. Invariant: `Ok` means that the record is on disk, and that
//! whoever reads the file from now on counts it.

use std::{path::Path, time::Duration};

use crate::{
    damage::DamageList,
    failure::FileError,
    folder::Folder,
    gate::Gate,
    ledger::{Ledger, Novelty},
    owner::Owner,
    record::{Change, RECORD_VERSION, Record, Unreadable},
    reserve,
    shared_lines::SharedLines,
};

/// The file that holds the records.
pub(crate) const RECEIPTS: &str = "receipts.jsonl";
const OWNERS: &str = "owners";

/// How long opening waits for the lock.
pub(crate) const OPENING_PATIENCE: Duration = Duration::from_secs(10);

/// The shared file with everything read from it so far.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) lines: SharedLines,
    pub(crate) owner: Owner,
    ledger: Ledger,
}

impl Log {
    /// Opens the log in `folder` and reads it.
    pub(crate) fn open(folder: &Path, damage: DamageList) -> Result<Self, FileError> {
        let lines = SharedLines::open(Folder::make(folder)?, RECEIPTS, damage)?;
        let gate = Gate::lasting(OPENING_PATIENCE);
        let owner = {
            let _held = lines.lock(&gate)?;
            let owners = lines.folder().make_inside(OWNERS)?;
            Owner::sweep(&owners);
            Owner::claim(owners)?
        };
        let mut log = Self { lines, owner, ledger: Ledger::default() };
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
        let _held = self.lines.lock_shared(gate)?;
        self.catch_up()?;
        Ok(look(&self.ledger, &self.owner))
    }

    /// Records a change. One that is known already is only made durable: its writer may have died
    /// before it was.
    pub(crate) fn record(&mut self, gate: &Gate, change: Change) -> Result<(), FileError> {
        self.lines.check_trust()?;
        let record = Record { version: RECORD_VERSION, owner: self.owner.id, change };
        let line = record.to_line()?;
        let _held = self.lines.lock(gate)?;
        self.catch_up()?;
        let novelty = self.ledger.judge(&record.change)?;
        if novelty == Novelty::New {
            self.refuse_foreign(&record.change)?;
            self.make_room(&record.change)?;
        }
        gate.pass()?;
        let ledger = &mut self.ledger;
        let recorded = self.lines.trusted(|lines| match novelty {
            Novelty::New => append(lines, ledger, &line, &record.change),
            Novelty::Repeated => lines.sync(),
        });
        if matches!(recorded, Err(FileError::Full { .. } | FileError::Write { .. })) {
            // Cutting back also gives up what was reserved for the turns that are open.
            let (file, end) = (self.lines.file(), self.lines.read_to());
            let _ = reserve::ahead_of(file, end, self.ledger.open_count());
        }
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
        let (file, end) = (self.lines.file(), self.lines.read_to());
        let reserved = reserve::ahead_of(file, end, self.ledger.open_count() + 1);
        reserved.map_err(|source| self.lines.write_error(source))
    }

    /// Reads what was added since the last time. The caller holds a lock.
    fn catch_up(&mut self) -> Result<(), FileError> {
        let ledger = &mut self.ledger;
        self.lines.catch_up(|line| take_line(ledger, line))
    }
}

/// The record counts when it reads back.
fn append(
    lines: &mut SharedLines,
    ledger: &mut Ledger,
    line: &str,
    change: &Change,
) -> Result<(), FileError> {
    lines.append(line)?;
    let caught_up = lines.catch_up(|line| take_line(ledger, line));
    match caught_up.and_then(|()| ledger.judge(change)) {
        Ok(Novelty::Repeated) => Ok(()),
        Ok(Novelty::New) | Err(_) => Err(FileError::Unconfirmed),
    }
}

fn take_line(ledger: &mut Ledger, line: &[u8]) -> Result<Option<&'static str>, FileError> {
    let reason = match Record::from_line(line) {
        Ok(record) => match ledger.apply(record) {
            Ok(()) => return Ok(None),
            Err(_) => "the record contradicts those before it",
        },
        Err(Unreadable::Newer(version)) => return Err(FileError::NewerVersion(version)),
        Err(Unreadable::Damaged(reason)) => reason,
    };
    if let Some(record) = Record::last_in(line) {
        // A contradiction within the damaged line is part of the damage that is listed.
        let _ = ledger.apply(record);
    }
    Ok(Some(reason))
}
