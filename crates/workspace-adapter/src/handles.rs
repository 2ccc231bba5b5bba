//! Decides which open handles a command inherits: its three streams.
//!
//! Knows nothing about what the handles are. Handles that this process opened close by themselves
//! when a program starts; those that it was itself handed down by a careless parent do not. On
//! systems without `/proc` these are not found.

use std::{
    fs,
    io::Result,
    os::fd::{BorrowedFd, RawFd},
};

use process_wrap::tokio::{CommandWrap, CommandWrapper};
use rustix::io::{FdFlags, fcntl_setfd};
use tokio::process::Command;

const FIRST_AFTER_STREAMS: RawFd = 3;
const CLOSES_ITSELF: u32 = 0o2_000_000;

/// Closes every handle but the streams when the command's program starts.
#[derive(Debug)]
pub(crate) struct StreamsOnly;

impl CommandWrapper for StreamsOnly {
    #[expect(unsafe_code, reason = "between fork and exec is no safe place by nature")]
    fn pre_spawn(&mut self, command: &mut Command, _: &CommandWrap) -> Result<()> {
        let handed_down = handed_down();
        let close_at_start = move || {
            for handle in &handed_down {
                // SAFETY: the handle was open before the fork and nobody here knows it, so nobody
                // closed it; were it closed, the call would fail and change nothing.
                let handle = unsafe { BorrowedFd::borrow_raw(*handle) };
                let _ = fcntl_setfd(handle, FdFlags::CLOEXEC);
            }
            Ok(())
        };
        // SAFETY: the closure makes one system call for each number of a list that exists
        // already; it neither allocates, locks nor panics.
        unsafe { command.pre_exec(close_at_start) };
        Ok(())
    }
}

/// The open handles that would outlive the start of a program.
fn handed_down() -> Vec<RawFd> {
    let Ok(folder) = fs::read_dir("/proc/self/fdinfo") else { return Vec::new() };
    let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number >= FIRST_AFTER_STREAMS && stays_open(*number)).collect()
}

fn stays_open(handle: RawFd) -> bool {
    let facts = fs::read_to_string(format!("/proc/self/fdinfo/{handle}")).unwrap_or_default();
    let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & CLOSES_ITSELF == 0)
}
