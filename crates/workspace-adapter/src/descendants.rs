//! Decides which processes belong to a command, and ends them all.
//!
//! Knows nothing about why. A process belongs to a command if it is in the session or the process
//! group of the command's shell, carries the command's marker in its environment, or descends from
//! such a process. **Not found**: a process that left the session, cleared its environment *and*
//! lost its parent before the end; and one of another user (`sudo`), which may not be ended anyway.
//!
//! Invariant: a signal goes to a process that was seen to belong, through a handle that no other
//! process can take over.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How long processes are hunted; each round takes a few milliseconds.
const HUNT: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_millis(5);

/// The processes of one command.
#[derive(Debug, Clone)]
pub(crate) struct Descendants {
    leader: Pid,
    marker: Box<[u8]>,
}

impl Descendants {
    /// Everything started by the session leader `leader` under `marker`, a `NAME=value`.
    pub(crate) fn new(leader: Pid, marker: String) -> Self {
        Self { leader, marker: marker.into_bytes().into() }
    }

    /// Ends the process group at once. Until the leader is reaped, its id belongs to nobody else.
    fn end_group(&self) {
        // An error means that nobody is left to end.
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// Ends everything, and returns how many processes could not be ended. Blocks; call it before
    /// the leader is reaped.
    pub(crate) fn end_all(&self) -> usize {
        let until = Instant::now() + HUNT;
        // The first look comes before the first signal: descent shows while the parents live.
        let mut found = self.alive();
        self.end_group();
        let mut was_quiet = found.is_empty();
        loop {
            found.iter().for_each(process_table::Process::end);
            let left = self.alive();
            // A single look that finds nobody may have been too early for a child just made.
            if (left.is_empty() && was_quiet) || Instant::now() >= until {
                return left.len();
            }
            was_quiet = left.is_empty();
            found = left;
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(target_os = "linux")]
impl Descendants {
    /// The living processes of the command, from one look at the process table.
    fn alive(&self) -> Vec<process_table::Process> {
        let all = process_table::processes();
        let mut own: std::collections::HashSet<Pid> =
            all.iter().filter(|process| self.claims(process)).map(|process| process.pid).collect();
        // Children of what belongs belong: until a look finds no more of them.
        loop {
            let children = all.iter().filter(|process| own.contains(&process.parent));
            let children: Vec<_> = children.map(|process| process.pid).collect();
            let before = own.len();
            own.extend(children);
            if own.len() == before {
                break;
            }
        }
        all.into_iter().filter(|process| own.contains(&process.pid) && !process.is_dead).collect()
    }

    fn claims(&self, process: &process_table::Process) -> bool {
        [process.pid, process.group, process.session].contains(&self.leader)
            || process.environment_holds(&self.marker)
    }
}

#[cfg(not(target_os = "linux"))]
impl Descendants {
    /// Without a process table to look at, the group is all that is found.
    fn alive(&self) -> Vec<process_table::Process> {
        Vec::new()
    }
}

#[cfg(not(target_os = "linux"))]
mod process_table {
    //! No process table.

    pub(super) enum Process {}

    impl Process {
        pub(super) fn end(&self) {
            match *self {}
        }
    }
}

#[cfg(target_os = "linux")]
mod process_table {
    //! Reads the process table, and signals what it showed.

    use std::fs;

    use memchr::memmem;
    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

    #[derive(Debug)]
    pub(super) struct Process {
        pub(super) pid: Pid,
        pub(super) parent: Pid,
        pub(super) group: Pid,
        pub(super) session: Pid,
        /// Ended and not yet reaped by its parent.
        pub(super) is_dead: bool,
        /// Clock ticks after boot; with the id it names a process for good.
        started: u64,
    }

    pub(super) fn processes() -> Vec<Process> {
        let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
        let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter_map(|number| Process::look_up(Pid::from_raw(number)?)).collect()
    }

    impl Process {
        fn look_up(pid: Pid) -> Option<Self> {
            let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
            Self::parse(pid, &String::from_utf8_lossy(&stat))
        }

        /// Reads a line of `/proc/<pid>/stat`. The name in parentheses may hold anything; the last
        /// parenthesis ends it.
        pub(super) fn parse(pid: Pid, stat: &str) -> Option<Self> {
            let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            // Zero is the kernel and -1 a process that is all but gone: nobody's descendants.
            let id = |at: usize| -> Option<Pid> {
                let number: i32 = fields.get(at)?.parse().ok()?;
                Some(Pid::from_raw(number.max(0)).unwrap_or(Pid::INIT))
            };
            Some(Self {
                pid,
                parent: id(1)?,
                group: id(2)?,
                session: id(3)?,
                is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
                started: fields.get(19)?.parse().ok()?,
            })
        }

        /// Whether the environment that the process was started with holds a whole `NAME=value`.
        pub(super) fn environment_holds(&self, marker: &[u8]) -> bool {
            let path = format!("/proc/{}/environ", self.pid.as_raw_pid());
            let Ok(text) = fs::read(path) else { return false };
            let begins = |at: usize| at == 0 || text[at - 1] == 0;
            let ends = |at: usize| matches!(text.get(at + marker.len()), None | Some(0));
            memmem::find_iter(&text, marker).any(|at| begins(at) && ends(at))
        }

        /// Ends the process, unless its id has passed on to another.
        pub(super) fn end(&self) {
            let handle = pidfd_open(self.pid, PidfdFlags::empty());
            // Looked at again behind the handle.
            if Self::look_up(self.pid).is_none_or(|now| now.started != self.started) {
                return;
            }
            // An error means that it is gone, or not ours to end: the next look tells.
            let _ = match handle {
                Ok(handle) => pidfd_send_signal(handle, Signal::KILL),
                Err(_) => kill_process(self.pid, Signal::KILL),
            };
        }
    }
}

#[cfg(test)]
mod tests;
