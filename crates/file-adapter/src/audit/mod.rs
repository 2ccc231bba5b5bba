//! Decides how the audit port is kept in one file that several processes share.
//!
//! Knows what is done under which lock; leaves judgement to the index and durability to the file.
//! Invariant: a record counts once the line that ends it is there; messages without a snapshot
//! harm nobody.

mod contents;
mod index;
mod record;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use runtime_ports::{
    ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot, Interruption,
    ModelInvocationAudit, OperationContext, PortFailure,
};
use tokio::sync::Mutex;

pub use self::contents::AuditContents;
use self::{contents::Reading, index::Index};
use crate::{
    checked_line::Unreadable,
    damage::{Damage, DamageList},
    failure::FileError,
    folder::Folder,
    gate::{self, Gate},
    ledger::Novelty,
    log::OPENING_PATIENCE,
    shared_lines::SharedLines,
};

/// The file that holds the records.
pub(crate) const AUDIT: &str = "audit.jsonl";

/// What models were given, as JSON lines in `audit.jsonl`, each on disk before a call returns.
///
/// A message that many contexts share stands in the file once, under its digest, and so does a set
/// of tools; a context is told as what it adds to one that is there. Several processes may use one
/// folder, which has to be on a file system of this machine.
///
/// # Rights
/// What is made is for the owner alone (`0700`, `0600`). A folder or file that belongs to somebody
/// else, that others can write to, or that is a link in place of a file is refused.
///
/// # Damage
/// A line that is torn or damaged is skipped and listed in [`Self::damage`]; all others count.
/// After a failed write or sync, other than for want of room, a handle keeps no more: drop it and
/// open the folder again.
///
/// # Cost
/// Opening reads the whole file once. In memory stay digests and ids, no messages. A write costs
/// one sync of the disk and what is new of the context.
#[derive(Debug, Clone)]
pub struct FileContextAudit {
    store: Arc<Mutex<Store>>,
    damage: DamageList,
}

#[derive(Debug)]
struct Store {
    lines: SharedLines,
    index: Index,
}

impl FileContextAudit {
    /// Opens the audit in `folder`, which is made if it is missing. Blocks on the file system, and
    /// up to ten seconds on another process that has the file locked.
    ///
    /// # Errors
    /// `Unavailable` when the folder or the file cannot be used; `Forbidden` when others can write
    /// to them; `Invalid` when a newer release wrote them.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, PortFailure> {
        let damage = DamageList::default();
        let folder = Folder::make(folder.as_ref())?;
        let lines = SharedLines::open(folder, AUDIT, damage.clone())?;
        let mut store = Store { lines, index: Index::default() };
        {
            let _held = store.lines.lock_shared(&Gate::lasting(OPENING_PATIENCE))?;
            store.catch_up()?;
        }
        Ok(Self { store: Arc::new(Mutex::new(store)), damage })
    }

    /// Everything that is kept, other processes' records included. Reads the whole file.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be read; those of an operation that is over.
    pub async fn contents(
        &self,
        operation: &OperationContext,
    ) -> Result<AuditContents, PortFailure> {
        self.with_store(operation, |store, gate| store.contents(gate)).await
    }

    /// Lines that could not be used, as far as the file was read; the first thousand of them.
    #[must_use]
    pub fn damage(&self) -> Vec<Damage> {
        self.damage.all()
    }

    /// Makes every sync fail, or succeed again.
    #[cfg(test)]
    pub(crate) async fn set_sync_fails(&self, fails: bool) {
        self.store.lock().await.lines.sync_fails = fails;
    }

    /// Calls take turns; one that is interrupted while it waits for its turn has done nothing.
    async fn with_store<T, F>(&self, operation: &OperationContext, job: F) -> Result<T, PortFailure>
    where
        T: Send + 'static,
        F: FnOnce(&mut Store, &Gate) -> Result<T, FileError> + Send + 'static,
    {
        let turn = operation.bounded(Arc::clone(&self.store).lock_owned()).await;
        let mut store = turn.map_err(Interruption::before_sending)?;
        gate::run(operation, move |gate| job(&mut store, gate)).await
    }
}

impl Store {
    /// Keeps what `plan` says is missing. What is known already is only made durable: its writer
    /// may have died before it was.
    fn keep(
        &mut self,
        gate: &Gate,
        plan: impl FnOnce(&Index) -> Result<Option<String>, FileError>,
    ) -> Result<(), FileError> {
        self.lines.check_trust()?;
        let _held = self.lines.lock(gate)?;
        self.catch_up()?;
        let missing = plan(&self.index)?;
        gate.pass()?;
        let index = &mut self.index;
        self.lines.trusted(|lines| match &missing {
            None => lines.sync(),
            Some(text) => {
                lines.append(text)?;
                lines.catch_up(|line| take_line(index, line)).map_err(|_| FileError::Unconfirmed)
            }
        })
    }

    /// Reads what was added since the last time. The caller holds a lock.
    fn catch_up(&mut self) -> Result<(), FileError> {
        let index = &mut self.index;
        self.lines.catch_up(|line| take_line(index, line))
    }

    fn contents(&mut self, gate: &Gate) -> Result<AuditContents, FileError> {
        let _held = self.lines.lock_shared(gate)?;
        self.catch_up()?;
        let mut reading = Reading::default();
        self.lines.read_again(|line| reading.take(line))?;
        Ok(reading.contents())
    }
}

fn take_line(index: &mut Index, line: &[u8]) -> Result<Option<&'static str>, FileError> {
    let reason = match record::AuditRecord::from_line(line) {
        Ok(record) => match index.apply(&record.kept) {
            Ok(()) => return Ok(None),
            Err(reason) => reason,
        },
        Err(Unreadable::Newer(version)) => return Err(FileError::NewerVersion(version)),
        Err(Unreadable::Damaged(reason)) => reason,
    };
    if let Some(record) = record::AuditRecord::last_in(line) {
        // A contradiction within the damaged line is part of the damage that is listed.
        let _ = index.apply(&record.kept);
    }
    Ok(Some(reason))
}

/// What is to be written of a record that has one line.
fn line_of(
    novelty: Novelty,
    kept: impl FnOnce() -> record::Kept,
) -> Result<Option<String>, FileError> {
    match novelty {
        Novelty::Repeated => Ok(None),
        Novelty::New => record::AuditRecord::of(kept()).to_line().map(Some),
    }
}

#[async_trait]
impl ContextAuditSession for FileContextAudit {
    async fn snapshot(
        &self,
        operation: &OperationContext,
        snapshot: ContextAuditSnapshot,
    ) -> Result<(), PortFailure> {
        self.with_store(operation, move |store, gate| {
            store.keep(gate, |index| match index.judge_snapshot(&snapshot)? {
                Novelty::Repeated => Ok(None),
                Novelty::New => index.lines_of(snapshot).map(Some),
            })
        })
        .await
    }

    async fn derivation(
        &self,
        operation: &OperationContext,
        derivation: ContextAuditDerivation,
    ) -> Result<(), PortFailure> {
        self.with_store(operation, move |store, gate| {
            store.keep(gate, |index| {
                let novelty = index.judge_derivation(&derivation)?;
                line_of(novelty, || record::Kept::Derivation(derivation))
            })
        })
        .await
    }

    async fn model_invocation(
        &self,
        operation: &OperationContext,
        invocation: ModelInvocationAudit,
    ) -> Result<(), PortFailure> {
        self.with_store(operation, move |store, gate| {
            store.keep(gate, |index| {
                let novelty = index.judge_invocation(&invocation)?;
                line_of(novelty, || record::Kept::Invocation(invocation))
            })
        })
        .await
    }
}
