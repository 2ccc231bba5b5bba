//! Decides what lies in and beside a workspace, and what its commands do, as data.
//!
//! Knows nothing about how a harness makes it so: on a disk, or in memory.

/// What is there before a scenario begins. Paths are relative, parts separated by `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// Files in the workspace, from its root; the folders above them exist, too.
    pub files: Vec<(String, Vec<u8>)>,
    /// Files beside the workspace, from the folder that holds its root, and no part of it.
    pub outside: Vec<(String, Vec<u8>)>,
    /// Symbolic links in the workspace.
    pub links: Vec<(String, LinkTarget)>,
    /// Names that the workspace's own rules leave out of lists and searches, wherever they are.
    pub ignored: Vec<String>,
    /// The commands that will be run, in order.
    pub commands: Vec<PlannedCommand>,
}

/// Where a symbolic link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// To this path beside the workspace, written as an absolute path.
    Outside(String),
    /// To exactly this text.
    Text(String),
}

/// A command and the folder that it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCommand {
    /// Folder from the root of the workspace; `None` is the root.
    pub cwd: Option<String>,
    /// What it does.
    pub doing: CommandDoing,
}

/// What a command does. [`Self::line`] is the command line that does it in a POSIX shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandDoing {
    /// Prints this and ends with this code. Plain words only.
    Prints {
        /// To standard output.
        stdout: String,
        /// To standard error.
        stderr: String,
        /// Exit code.
        exit_code: u8,
    },
    /// Makes a file of this name in its folder.
    Makes {
        /// A plain name.
        name: String,
        /// Plain words.
        content: String,
    },
    /// Is ended by this signal.
    DiesOf(u8),
    /// Does nothing, for a minute.
    Sleeps,
    /// Starts a child that makes the file after a third of a second, and ends at once.
    LeavesAChild {
        /// A plain name.
        name: String,
    },
    /// Starts a child that makes the file after a third of a second, and sleeps beside it.
    SleepsBesideAChild {
        /// A plain name.
        name: String,
    },
    /// Prints a line `head`, many lines of filling, and a line `tail`: this many bytes in all.
    Floods {
        /// At least 100.
        bytes: usize,
    },
}

impl CommandDoing {
    /// The command line, for a POSIX shell.
    #[must_use]
    pub fn line(&self) -> String {
        let child = |name: &str| format!("(sleep 0.3; echo late > {name}) &");
        match self {
            Self::Prints { stdout, stderr, exit_code } => {
                format!("printf '%s' '{stdout}'; printf '%s' '{stderr}' >&2; exit {exit_code}")
            }
            Self::Makes { name, content } => format!("printf '%s' '{content}' > {name}"),
            Self::DiesOf(signal) => format!("kill -{signal} $$; sleep 60"),
            Self::Sleeps => "sleep 60".into(),
            Self::LeavesAChild { name } => child(name),
            Self::SleepsBesideAChild { name } => format!("{} sleep 60", child(name)),
            Self::Floods { bytes } => format!(
                "echo head; head -c {} /dev/zero | tr '\\0' x; echo; echo tail",
                bytes - "head\n\ntail\n".len()
            ),
        }
    }
}

impl Layout {
    /// A workspace with these files of text.
    #[must_use]
    pub fn files(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).into(), text.as_bytes().to_vec()));
        Self { files: files.collect(), ..Self::default() }
    }

    /// The same, beside these files of text.
    #[must_use]
    pub fn beside(mut self, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).into(), text.as_bytes().to_vec()));
        self.outside.extend(files);
        self
    }

    /// The same, with a link.
    #[must_use]
    pub fn link(mut self, path: impl Into<String>, target: LinkTarget) -> Self {
        self.links.push((path.into(), target));
        self
    }

    /// The same, where this name is ignored.
    #[must_use]
    pub fn ignoring(mut self, name: &str) -> Self {
        self.ignored.push(name.into());
        self
    }

    /// The same, where the next command runs in this folder and does this.
    #[must_use]
    pub fn command(mut self, cwd: Option<&str>, doing: CommandDoing) -> Self {
        self.commands.push(PlannedCommand { cwd: cwd.map(str::to_owned), doing });
        self
    }
}
