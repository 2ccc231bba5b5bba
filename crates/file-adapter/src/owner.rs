//! Decides whether the store that opened a turn is alive.
//!
//! Knows lock files: a store holds its own for as long as it is open, and the kernel lets go of it
//! when the process ends, however it ends. A missing file means a dead owner, too.
//! Invariant: files are made and swept under the lock of the log, so that nobody sweeps one that
//! its owner has not locked yet.

use std::fs::{File, TryLockError};

use uuid::Uuid;

use crate::{failure::FileError, folder::Folder};

const SUFFIX: &str = ".lock";

/// This store's lock, held until the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) id: Uuid,
    folder: Folder,
    lock: File,
}

impl Owner {
    /// Takes a fresh id and locks its file. The caller holds the lock of the log.
    pub(crate) fn claim(folder: Folder) -> Result<Self, FileError> {
        let id = Uuid::new_v4();
        let lock = folder.file_to_append(&name_of(id))?;
        lock.try_lock().map_err(|error| FileError::Lock(error.into()))?;
        Ok(Self { id, folder, lock })
    }

    /// Removes the files of dead owners. The caller holds the lock of the log.
    pub(crate) fn sweep(folder: &Folder) {
        for name in folder.names().unwrap_or_default() {
            let id = name.strip_suffix(SUFFIX).and_then(|id| Uuid::try_parse(id).ok());
            if id.is_some_and(|id| name == name_of(id) && !is_locked(folder, id)) {
                let _ = folder.remove(&name);
            }
        }
    }

    /// Whether the owner of this id lives.
    pub(crate) fn is_alive(&self, id: Uuid) -> bool {
        id == self.id || is_locked(&self.folder, id)
    }

    /// Whether others see this one alive.
    #[cfg(test)]
    pub(crate) fn is_seen_alive(&self) -> bool {
        is_locked(&self.folder, self.id)
    }
}

impl Drop for Owner {
    /// Removes the lock file before letting go of it.
    fn drop(&mut self) {
        let _ = self.folder.remove(&name_of(self.id));
        let _ = self.lock.unlock();
    }
}

/// What cannot be told counts as alive: its turns are then left alone. The shared lock lets several
/// processes ask at once without taking each other for the owner.
fn is_locked(folder: &Folder, id: Uuid) -> bool {
    match folder.file_to_read(&name_of(id)) {
        Err(_) => true,
        Ok(None) => false,
        Ok(Some(file)) => match file.try_lock_shared() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        },
    }
}

fn name_of(id: Uuid) -> String {
    format!("{id}{SUFFIX}")
}
