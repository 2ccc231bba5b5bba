//! Decides how much room is kept free for the records that end open turns.
//!
//! Knows block allocation beyond the end of a file. A file system that cannot reserve is used
//! without: a full disk is then met when a turn ends instead of before it begins.

use std::{fs::File, io};

/// Bytes kept for each open turn: its notes and its receipt.
const FOR_A_TURN: u64 = 64 << 10;
const AT_MOST: u64 = 16 << 20;

/// Reserves room beyond `end` for so many open turns. The length of the file stays as it is.
#[cfg(target_os = "linux")]
pub(crate) fn ahead_of(file: &File, end: u64, open_turns: usize) -> io::Result<()> {
    use rustix::{
        fs::{FallocateFlags, fallocate},
        io::Errno,
    };
    let room = FOR_A_TURN.saturating_mul(open_turns as u64).min(AT_MOST);
    match fallocate(file, FallocateFlags::KEEP_SIZE, end, room) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO)) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Reserves nothing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ahead_of(_: &File, _: u64, _: usize) -> io::Result<()> {
    Ok(())
}
