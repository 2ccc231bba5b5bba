//! Decides which processes belong to a command, and ends them all.
//!
//! Knows nothing about why. A process belongs to a command if it is in the session or the process
//! group of the command's shell, carries the command's marker in its environment, or descends from
//! such a process. **Not found**: a process that left the session, cleared its environment *and*
//! lost its parent, and one of another user (`sudo`), which may not be ended anyway.
//!
//! Invariant: a signal goes to a process that was just seen to belong, through a handle that no
//! other process can take over.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

/// How long strays are hunted; each round takes a few milliseconds.
const HUNT: Duration = Duration::from_millis(300);
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

    /// Ends the process group at once. Call it before the leader is reaped: until then its id
    /// belongs to nobody else.
    pub(crate) fn end_group(&self) {
        // An error means that nobody is left to end.
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// Ends whatever is left, and returns how many could not be ended. Blocks.
    pub(crate) fn end_strays(&self) -> usize {
        let until = Instant::now() + HUNT;
        let mut quiet = true;
        loop {
            let strays = self.alive();
            // Once there were strays, a single look that finds none may have been too early.
            if (strays.is_empty() && quiet) || Instant::now() >= until {
                return strays.len();
            }
            quiet = strays.is_empty();
            self.end(&strays);
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(target_os = "linux")]
impl Descendants {
    /// The living processes of the command, from one look at the process table.
    fn alive(&self) -> HashSet<Pid> {
        let all = linux::processes();
        let mut own: HashSet<Pid> =
            all.iter().filter(|process| self.claims(process)).map(|process| process.pid).collect();
        // Children of what belongs belong: until a look finds no more of them.
        loop {
            let before = own.len();
            let children = all.iter().filter(|process| own.contains(&process.parent));
            own.extend(children.map(|process| process.pid).collect::<Vec<_>>());
            if own.len() == before {
                break;
            }
        }
        own.retain(|pid| all.iter().any(|process| process.pid == *pid && !process.is_dead));
        own
    }

    fn claims(&self, process: &linux::Process) -> bool {
        let is_near = [process.group, process.session, process.pid].contains(&self.leader);
        is_near || linux::environment_holds(process.pid, &self.marker)
    }

    fn end(&self, strays: &HashSet<Pid>) {
        use rustix::process::{PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};

        let open = |pid: &Pid| (*pid, pidfd_open(*pid, PidfdFlags::empty()));
        let handles: Vec<_> = strays.iter().map(open).collect();
        // Looked at again behind the handles: an id may have passed on since the first look.
        let confirmed = self.alive();
        for (pid, handle) in handles.into_iter().filter(|(pid, _)| confirmed.contains(pid)) {
            // An error means that it is gone, or not ours to end: the next look tells.
            let _ = match handle {
                Ok(handle) => pidfd_send_signal(handle, Signal::KILL),
                Err(_) => kill_process(pid, Signal::KILL),
            };
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Descendants {
    /// Without a process table to look at, the group is all that is found.
    fn alive(&self) -> HashSet<Pid> {
        HashSet::new()
    }

    fn end(&self, _: &HashSet<Pid>) {}
}

#[cfg(target_os = "linux")]
mod linux {
    //! Reads the process table.

    use std::fs;

    use memchr::memmem;
    use rustix::process::Pid;

    pub(super) struct Process {
        pub(super) pid: Pid,
        pub(super) parent: Pid,
        pub(super) group: Pid,
        pub(super) session: Pid,
        /// Ended and not yet reaped by its parent.
        pub(super) is_dead: bool,
    }

    pub(super) fn processes() -> Vec<Process> {
        let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
        let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter_map(process).collect()
    }

    /// Whether the environment that the process was started with holds a whole `NAME=value`.
    pub(super) fn environment_holds(pid: Pid, marker: &[u8]) -> bool {
        let Ok(text) = fs::read(format!("/proc/{}/environ", pid.as_raw_pid())) else {
            return false;
        };
        let ends = |at: usize| matches!(text.get(at + marker.len()), None | Some(0));
        let begins = |at: usize| at == 0 || text[at - 1] == 0;
        memmem::find_iter(&text, marker).any(|at| begins(at) && ends(at))
    }

    fn process(number: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name in parentheses may hold anything; the last parenthesis ends it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let [parent, group, session] = [fields.next(), fields.next(), fields.next()]
            .map(|field| field.and_then(|field| Pid::from_raw(field.parse().ok()?)));
        let pid = Pid::from_raw(number)?;
        let init = Pid::INIT;
        Some(Process {
            pid,
            parent: parent.unwrap_or(init),
            group: group.unwrap_or(init),
            session: session.unwrap_or(init),
            is_dead: matches!(state, "Z" | "X" | "x"),
        })
    }
}
