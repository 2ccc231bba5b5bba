//! Decides where a test lives: a home, configuration, state and a folder to work in, all of its own.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Instant,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    model_server::ModelServer,
    output::{Output, end_of},
    terminal::Terminal,
};

/// A user's world for one test.
pub(crate) struct Place(TempDir);

/// One call of the command, not started yet.
pub(crate) struct Agent(Command);

/// A command that runs with pipes for its streams and no input.
pub(crate) struct Running {
    child: Child,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for name in ["home", "config/agent", "state", "folder"] {
            fs::create_dir_all(place.0.path().join(name)).unwrap();
        }
        place
    }

    /// A copy of the example folder that ships with the project.
    pub(crate) fn notes() -> Self {
        let place = Self::empty();
        let notes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes");
        copy(&notes, &place.folder());
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The folder that holds everything of this place.
    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.path("folder")
    }

    /// A file of the folder; `None` when it is not there.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder().join(name)).ok()
    }

    /// Puts a file into the folder.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes the user's configuration file.
    pub(crate) fn configure(&self, text: &str) {
        fs::write(self.path("config/agent/config.toml"), text).unwrap();
    }

    /// The command with these arguments, in the folder, with nothing of the surrounding
    /// environment.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Agent {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent"));
        command
            .args(arguments)
            .current_dir(self.folder())
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("USER", "ada")
            .env("TERM", "xterm-256color")
            .stdin(Stdio::null());
        Agent(command)
    }

    /// Runs a task to its end, without a terminal.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.agent(&[&["run"], arguments].concat()).ended()
    }

    /// The same against a server.
    pub(crate) fn run_with(&self, server: &ModelServer, arguments: &[&str]) -> Ended {
        self.agent(&[&["run"], arguments].concat()).with_server(server).ended()
    }

    /// The receipts as `agent receipts --json` lists them.
    pub(crate) fn receipts(&self) -> Vec<Value> {
        let ended = self.agent(&["receipts", "--json", "--limit", "1000"]).ended();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines = ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["kind"] == "receipt").map(|line| line["receipt"].clone()).collect()
    }

    /// Everything that the command keeps, in one text.
    pub(crate) fn kept(&self) -> String {
        let mut all = String::new();
        let mut ahead = vec![self.path("state"), self.path("home")];
        while let Some(path) = ahead.pop() {
            match fs::read_dir(&path) {
                Ok(entries) => ahead.extend(entries.map(|entry| entry.unwrap().path())),
                Err(_) => all.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap())),
            }
        }
        all
    }
}

impl Agent {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            self.0.env_remove(name);
        }
        self
    }

    pub(crate) fn with_server(self, server: &ModelServer) -> Self {
        self.env("OPENAI_BASE_URL", server.base_url())
    }

    pub(crate) fn stdin(mut self, input: impl Into<Stdio>) -> Self {
        self.0.stdin(input);
        self
    }

    pub(crate) fn start(mut self) -> Running {
        self.0.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.0.spawn().unwrap();
        let stdout = Output::of(child.stdout.take().unwrap());
        let stderr = Output::of(child.stderr.take().unwrap());
        Running { child, stdout, stderr }
    }

    pub(crate) fn ended(self) -> Ended {
        self.start().ended()
    }

    /// At a terminal: all three streams are one.
    pub(crate) fn at_terminal(self) -> Terminal {
        Terminal::running(self.0, None)
    }

    /// At a terminal, but for standard output.
    pub(crate) fn at_terminal_with_output(self, stdout: File) -> Terminal {
        Terminal::running(self.0, Some(stdout))
    }

    pub(crate) fn into_command(self) -> Command {
        self.0
    }
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) -> Instant {
        signal_child(&self.child, signal)
    }

    pub(crate) fn ended(mut self) -> Ended {
        let code = end_of(&mut self.child).code();
        Ended { code, stdout: self.stdout.ended(), stderr: self.stderr.ended() }
    }
}

/// Sends a signal and tells when.
pub(crate) fn signal_child(child: &Child, signal: Signal) -> Instant {
    kill_process(Pid::from_child(child), signal).unwrap();
    Instant::now()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            // A run in the project may have left its result.
            false if entry.file_name() == "TOTALS.md" => {}
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
