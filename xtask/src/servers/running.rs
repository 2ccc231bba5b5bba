//! Decides how a server is started, when it is ready, and that it never outlives this command.
//!
//! A server runs in a process group of its own, under a shell that kills the whole group when its
//! input ends. The input is a pipe that this process holds: whatever becomes of the process, a signal
//! included, the pipe closes and the servers are gone.

use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use super::patience;

/// Ends with its input, or with the server; then nobody of the group is left.
const GUARD: &str = r#"("$@" </dev/null; kill -9 0) & cat >/dev/null; kill -9 0"#;
const READY_WITHIN: Duration = Duration::from_secs(60);
/// A free port may be taken before the server has it.
const TRIES: u32 = 3;

/// How a server is started.
pub(super) struct Start<'a> {
    name: &'static str,
    health: &'static str,
    patience: Duration,
    command: Box<dyn Fn(u16) -> Command + 'a>,
    more: Vec<(OsString, OsString)>,
}

impl<'a> Start<'a> {
    /// A server called `name`, which is ready when `health` can be got.
    pub(super) fn new(name: &'static str, health: &'static str) -> Self {
        let command = Box::new(|_| Command::new("false"));
        Self { name, health, patience: READY_WITHIN, command, more: Vec::new() }
    }

    /// The command that serves on a port.
    pub(super) fn run(self, command: impl Fn(u16) -> Command + 'a) -> Self {
        Self { command: Box::new(command), ..self }
    }

    /// How long the server may take to be ready.
    pub(super) fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// What else the checks are told about it.
    pub(super) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.more.push((name.into(), value.into()));
        self
    }

    /// Starts it, with its output in a log of `logs`, and waits until it is ready.
    pub(super) fn now(self, logs: &Path) -> anyhow::Result<Running> {
        let log = logs.join(format!("{}.log", self.name.to_lowercase()));
        let mut last = None;
        for _ in 0..TRIES {
            match self.once(&log) {
                Ok(running) => return Ok(running),
                Err(error) => last = Some(error),
            }
        }
        patience::show_end(&log);
        let error = last.context("no try was made")?;
        Err(error.context(format!("the server {} does not start", self.name)))
    }

    fn once(&self, log: &Path) -> anyhow::Result<Running> {
        let port = free_port()?;
        let output =
            File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = guarded(&(self.command)(port), output)?;
        let address = format!("http://127.0.0.1:{port}");
        let key = format!("SERVERS_{}", self.name);
        let mut environment = vec![(key.into(), address.clone().into())];
        environment.extend(self.more.iter().cloned());
        let mut running = Running { child, address, environment, log: log.to_path_buf() };
        running.wait_until_ready(port, self.health, self.patience)?;
        Ok(running)
    }
}

/// A server that runs until this is dropped.
pub(super) struct Running {
    child: Child,
    address: String,
    environment: Vec<(OsString, OsString)>,
    log: PathBuf,
}

impl Running {
    /// Scheme, host and port.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// What the checks are told about it.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.environment.clone()
    }

    /// Prints the end of its log.
    pub(super) fn show_log(&self) {
        patience::show_end(&self.log);
    }

    fn wait_until_ready(
        &mut self,
        port: u16,
        health: &str,
        patience: Duration,
    ) -> anyhow::Result<()> {
        let until = Instant::now() + patience;
        while !answers(port, health) {
            if self.child.try_wait()?.is_some() {
                bail!("it ended before it was ready");
            }
            if Instant::now() >= until {
                bail!("it is not ready after {} s", patience.as_secs());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // The guard kills itself, so that there is no good end to wait for.
        let _ = self.child.wait();
    }
}

fn guarded(command: &Command, output: File) -> anyhow::Result<Child> {
    let mut guard = Command::new("sh");
    guard.args(["-c", GUARD, "guard"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => guard.env(name, value),
            None => guard.env_remove(name),
        };
    }
    let errors = output.try_clone()?;
    let guard = guard.process_group(0).stdin(Stdio::piped()).stdout(output).stderr(errors);
    guard.spawn().context("cannot run a shell")
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("there is no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Whether `path` is answered with success.
fn answers(port: u16, path: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        Ok(head.starts_with(b"HTTP/1.") && &head[9..10] == b"2")
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests;
