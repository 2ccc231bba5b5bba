//! Decides whether the process that opened a turn is alive.
//!
//! Knows lock files: a process holds its own for as long as it lives, and the kernel lets go of it
//! when the process ends, however it ends.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use uuid::Uuid;

use crate::{failure::FileError, private};

/// This process's lock, held until the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) id: Uuid,
    folder: PathBuf,
    lock: File,
}

impl Owner {
    /// Takes a fresh id and locks its file.
    pub(crate) fn claim(folder: &Path) -> Result<Self, FileError> {
        let id = Uuid::new_v4();
        let path = lock_path(folder, id);
        let opened = |source| FileError::Open { path: path.clone(), source };
        private::make_folder(folder).map_err(opened)?;
        let lock = private::open_for_append(&path).map_err(opened)?;
        lock.lock().map_err(FileError::Lock)?;
        Ok(Self { id, folder: folder.to_owned(), lock })
    }

    /// Whether the owner of this id lives. What cannot be told counts as alive: its turns are then
    /// left alone.
    pub(crate) fn is_alive(&self, id: Uuid) -> bool {
        if id == self.id {
            return true;
        }
        match private::open_for_read(&lock_path(&self.folder, id)) {
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
            Ok(file) => match file.try_lock() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
            },
        }
    }
}

impl Drop for Owner {
    /// Removes the lock file before letting go of it: a missing file means a dead owner too.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(lock_path(&self.folder, self.id));
        let _ = self.lock.unlock();
    }
}

fn lock_path(folder: &Path, id: Uuid) -> PathBuf {
    folder.join(format!("{id}.lock"))
}
