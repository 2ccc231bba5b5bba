//! Decides how a command is started, listened to and ended.
//!
//! Knows nothing about who allowed it. Invariant: whatever happens to the caller, the command and
//! what it started are ended, and its shell is reaped, by one task that owns them.
//!
//! A command is **not contained**: it has the user's rights to files, network and processes.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc, time::Duration};

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use runtime_ports::{CommandOutput, Interruption, OperationContext, PortFailure, PortFailureKind};
use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, waitid},
};
use tokio::{process::Command, sync::oneshot};
use uuid::Uuid;

use crate::{
    descendants::Descendants,
    environment::{CommandHome, MARKER},
    failure,
    handles::StreamsOnly,
    output::HeadTail,
    partial_output::PartialOutput,
};

/// A command line is one argument of the shell, and Linux bounds an argument at 128 KiB.
const MAX_COMMAND_BYTES: usize = 100_000;
/// How long the output is still read after everything was ended: it is in the pipes already.
const LAST_OUTPUT: Duration = Duration::from_millis(100);
/// How long the ended shell may take to be gone.
const REAPING: Duration = Duration::from_millis(100);

/// A command that is ready to be started.
pub(crate) struct Prepared {
    pub(crate) line: String,
    /// The folder to run in: a path that the child resolves, kept alive by `keep`.
    pub(crate) folder: std::path::PathBuf,
    pub(crate) keep: Box<dyn Send>,
    pub(crate) home: Arc<CommandHome>,
    pub(crate) output_bytes: usize,
    pub(crate) partial: PartialOutput,
}

/// Refuses what no shell could run.
pub(crate) fn check_line(line: &str) -> Result<(), PortFailure> {
    match line {
        _ if line.trim().is_empty() => {
            Err(failure::invalid("BAD_COMMAND", "command is empty; give a command line"))
        }
        _ if line.contains('\0') => {
            Err(failure::invalid("BAD_COMMAND", "command contains a NUL character; remove it"))
        }
        _ if line.len() > MAX_COMMAND_BYTES => Err(failure::invalid(
            "BAD_COMMAND",
            format!("command is longer than {MAX_COMMAND_BYTES} bytes; put it into a file"),
        )),
        _ => Ok(()),
    }
}

/// Runs a command to its end.
///
/// # Cancellation
/// Dropping the future ends the command and everything found of it, soon after.
pub(crate) async fn run(
    operation: &OperationContext,
    prepared: Prepared,
) -> Result<CommandOutput, PortFailure> {
    operation.remaining()?;
    let running = Running::start(prepared)?;
    // The owner sees the caller go when `_present` is dropped with this future.
    let (_present, gone) = oneshot::channel();
    let operation = operation.clone();
    let owner = tokio::spawn(async move { running.conclude(&operation, gone).await });
    owner.await.unwrap_or_else(|_| Err(broke_off()))
}

struct Running {
    child: Box<dyn ChildWrapper>,
    leader: Pid,
    descendants: Descendants,
    output_bytes: usize,
    partial: PartialOutput,
    _home: Arc<CommandHome>,
}

/// Why a command is over.
enum Over {
    Ended,
    Interrupted(Interruption),
}

impl Running {
    fn start(prepared: Prepared) -> Result<Self, PortFailure> {
        let marker = Uuid::new_v4().simple().to_string();
        let mut wrapped = CommandWrap::with_new("/bin/sh", |command: &mut Command| {
            command
                .args(["-c", &prepared.line])
                .current_dir(&prepared.folder)
                .env_clear()
                .envs(prepared.home.environment(&marker))
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .kill_on_drop(true);
        });
        // A session of its own: a group to signal, and no terminal to read from or type into.
        let child =
            wrapped.wrap(ProcessSession).wrap(StreamsOnly).spawn().map_err(|_| not_started())?;
        let leader = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(broke_off)?;
        let descendants = Descendants::new(leader, format!("{MARKER}={marker}"));
        let Prepared { output_bytes, partial, home, keep, .. } = prepared;
        drop(keep);
        Ok(Self { child, leader, descendants, output_bytes, partial, _home: home })
    }

    async fn conclude(
        mut self,
        operation: &OperationContext,
        gone: oneshot::Receiver<()>,
    ) -> Result<CommandOutput, PortFailure> {
        let max = self.output_bytes;
        let (mut stdout, mut stderr) = (HeadTail::new(max), HeadTail::new(max));
        let (all_ended, told_of_the_end) = oneshot::channel::<()>();
        let streams = (self.child.stdout().take(), self.child.stderr().take());
        let listened = async {
            let drained = async { tokio::join!(stdout.drain(streams.0), stderr.drain(streams.1)) };
            let waited_enough = async {
                // Nothing is sent: the sender is dropped when everything was ended.
                let _ = told_of_the_end.await;
                tokio::time::sleep(LAST_OUTPUT).await;
            };
            tokio::select! {
                biased;
                _ = drained => {}
                () = waited_enough => {}
            }
        };
        let lived = async {
            let over = self.over(operation, gone).await;
            // Whoever still holds a pipe is ended too, so that the streams end.
            let status = self.end().await;
            drop(all_ended);
            (over, status)
        };
        let ((over, status), ()) = tokio::join!(lived, listened);
        match (over, status?) {
            (Over::Interrupted(interruption), _) => {
                let said = (&stdout, &stderr);
                Err(self.partial.interrupted(operation, interruption, said).await)
            }
            (Over::Ended, status) => Ok(told(status, &stdout, &stderr)),
        }
    }

    /// Waits for the shell to end, without reaping it, or for a reason to end it.
    async fn over(&self, operation: &OperationContext, gone: oneshot::Receiver<()>) -> Over {
        tokio::select! {
            biased;
            interruption = operation.interrupted() => Over::Interrupted(interruption),
            _ = gone => Over::Interrupted(Interruption::Canceled),
            () = ended(self.leader) => Over::Ended,
        }
    }

    /// Ends everything that is left, then reaps the shell.
    async fn end(&mut self) -> Result<ExitStatus, PortFailure> {
        let descendants = self.descendants.clone();
        let left = tokio::task::spawn_blocking(move || descendants.end_all()).await;
        let status = tokio::time::timeout(REAPING, self.child.wait()).await;
        match (left, status) {
            (Ok(0), Ok(Ok(status))) => Ok(status),
            (Ok(count @ 1..), _) => Err(left_running(count)),
            (Ok(0), Err(_)) => Err(left_running(1)),
            _ => Err(broke_off()),
        }
    }
}

impl Drop for Running {
    /// Reached with a living command only when the runtime shuts down under it: there is nobody
    /// left to hand the hunt to, so it blocks here.
    fn drop(&mut self) {
        if self.child.id().is_some() {
            self.descendants.end_all();
        }
    }
}

fn told(status: ExitStatus, stdout: &HeadTail, stderr: &HeadTail) -> CommandOutput {
    let (stdout, stderr) = (stdout.to_text(), stderr.to_text());
    CommandOutput {
        exit_code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        truncated: stdout.is_cut || stderr.is_cut,
        stdout: stdout.text,
        stderr: stderr.text,
    }
}

/// Waits until a child has ended, leaving it to be reaped, so that its id stays its own. Takes a
/// blocking thread until then, which ends at the latest when the command is ended.
async fn ended(child: Pid) {
    let wait = move || {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(child), look) {}
    };
    // A wait that broke off is a child that is ended with the rest.
    let _ = tokio::task::spawn_blocking(wait).await;
}

fn not_started() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::Unavailable,
        "SHELL_NOT_STARTED",
        "the shell could not be started; check that /bin/sh exists and that processes and memory \
         are left",
    )
}

fn left_running(count: usize) -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Internal,
        "PROCESSES_LEFT",
        format!("{count} processes of the command could not be ended; end them by hand"),
    )
}

fn broke_off() -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Internal,
        "COMMAND_FAULT",
        "the command was lost sight of; check what it did before running it again",
    )
}
