//! Decides how long a process waits for a file that another one has locked.
//!
//! Knows advisory locks of whole files, which the kernel releases when their process ends. Waiting
//! is polling, so that a holder that hangs cannot hang who waits.

use std::{
    fs::{File, TryLockError},
    thread,
    time::Duration,
};

use crate::{failure::FileError, gate::Gate};

const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// A lock that is let go of when this is dropped.
#[derive(Debug)]
pub(crate) struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Keeps everybody else out.
pub(crate) fn exclusive(file: &File, gate: &Gate) -> Result<Held, FileError> {
    wait(file, gate, File::try_lock)
}

/// Keeps those out who want the file for themselves.
pub(crate) fn shared(file: &File, gate: &Gate) -> Result<Held, FileError> {
    wait(file, gate, File::try_lock_shared)
}

fn wait(
    file: &File,
    gate: &Gate,
    try_lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Held, FileError> {
    // The lock is of the open file, which its duplicate shares.
    let file = file.try_clone().map_err(FileError::Lock)?;
    let mut pause = FIRST_PAUSE;
    loop {
        match try_lock(&file) {
            Ok(()) => return Ok(Held(file)),
            Err(TryLockError::Error(error)) => return Err(FileError::Lock(error)),
            Err(TryLockError::WouldBlock) if gate.is_over() => return Err(FileError::Busy),
            Err(TryLockError::WouldBlock) => thread::sleep(pause),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
