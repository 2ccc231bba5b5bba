//! Decides what is kept of a conversation, and how it is taken up again.
//!
//! Knows one file for each. Refuses to know what was said. Invariants: a file is written whole or
//! not at all, for the user alone; one of another version is refused, and left as it is.

use std::{
    fs,
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, anyhow, bail};
use runtime_decision::CarriedContext;
use runtime_kernel::engine::{RunResult, Task};
use runtime_ports::ModelMessage;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::places;

/// Version of the files.
const VERSION: u32 = 1;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Talk {
    version: u32,
    pub(crate) session_id: Uuid,
    /// Where it was held.
    pub(crate) folder: String,
    /// In Unix milliseconds; 0 before the first message.
    updated_at_ms: u64,
    /// Everything that was said, calls and results included.
    pub(crate) messages: Vec<ModelMessage>,
    /// What stands for the oldest of it in requests, if it was too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<CarriedContext>,
}

/// The files of a user's conversations.
#[derive(Debug, Clone)]
pub(crate) struct Talks(PathBuf);

impl Talk {
    /// One that nothing was said in yet.
    pub(crate) fn new(folder: &str) -> Self {
        let (session_id, folder) = (Uuid::new_v4(), folder.to_owned());
        let (updated_at_ms, messages) = (0, Vec::new());
        Self { version: VERSION, session_id, folder, updated_at_ms, messages, context: None }
    }

    /// The next message, after all others.
    pub(crate) fn task(&self, text: String) -> Task {
        let mut task = Task::new(text).after(self.messages.clone());
        task.context.clone_from(&self.context);
        task
    }

    /// A run has come to this.
    pub(crate) fn update(&mut self, result: &RunResult) {
        self.context.clone_from(&result.context);
        self.set(result.history.messages().cloned().collect());
    }

    fn set(&mut self, messages: Vec<ModelMessage>) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.updated_at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        self.messages = messages;
    }
}

impl Talks {
    /// Those in this folder, which need not exist.
    pub(crate) const fn in_folder(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Writes one down, in the place of what was there of it.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(crate) fn keep(&self, conversation: &Talk) -> anyhow::Result<()> {
        places::make(&self.0)?;
        let path = self.0.join(format!("{}.json", conversation.session_id));
        let fresh = self.0.join(format!("{}.json.new", conversation.session_id));
        write(&fresh, &serde_json::to_vec(conversation)?)
            .and_then(|()| fs::rename(&fresh, &path))
            .with_context(|| format!("the conversation cannot be kept in {}", path.display()))
    }

    /// The newest that was held in this folder.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn newest(&self, folder: &str) -> anyhow::Result<Talk> {
        let mut newest: Option<(u64, PathBuf)> = None;
        for path in self.paths()? {
            // What cannot be read is found by its name alone.
            let Ok(heading) = heading(&path) else { continue };
            let is_newer = newest.as_ref().is_none_or(|(at, _)| heading.updated_at_ms > *at);
            if heading.folder == folder && is_newer {
                newest = Some((heading.updated_at_ms, path));
            }
        }
        let (_, path) = newest.ok_or_else(|| {
            anyhow!("no conversation was held in {folder}; begin one without --resume")
        })?;
        read(&path)
    }

    /// The one whose id begins like this.
    ///
    /// # Errors
    /// There is none, or several; or it cannot be read.
    pub(crate) fn named(&self, begin: &str) -> anyhow::Result<Talk> {
        let begin = begin.to_ascii_lowercase();
        let fits = |path: &PathBuf| {
            let name = path.file_stem().and_then(|name| name.to_str());
            !begin.is_empty() && name.is_some_and(|name| name.starts_with(&begin))
        };
        let fitting: Vec<PathBuf> = self.paths()?.into_iter().filter(fits).collect();
        match &fitting[..] {
            [path] => read(path),
            [] => bail!("no conversation has an id that begins with {begin:?}"),
            _ => bail!("several conversations have an id that begins with {begin:?}"),
        }
    }

    fn paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(error).with_context(|| format!("{} is unreadable", self.0.display()));
            }
        };
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        Ok(paths.filter(|path| path.extension().is_some_and(|at| at == "json")).collect())
    }
}

/// On disk when it returns.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = fs::File::options();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// What is known of a file before its messages are read.
#[derive(Deserialize)]
struct Heading {
    version: u32,
    #[serde(default)]
    folder: String,
    #[serde(default)]
    updated_at_ms: u64,
}

fn heading(path: &Path) -> anyhow::Result<Heading> {
    let heading: Heading = decoded(path, &bytes(path)?)?;
    if heading.version != VERSION {
        let (path, found) = (path.display(), heading.version);
        bail!("the conversation {path} has version {found}, not {VERSION}");
    }
    Ok(heading)
}

fn read(path: &Path) -> anyhow::Result<Talk> {
    heading(path)?;
    decoded(path, &bytes(path)?)
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("the conversation {} is unreadable", path.display()))
}

/// The reason would show what was said.
fn decoded<'a, T: Deserialize<'a>>(path: &Path, bytes: &'a [u8]) -> anyhow::Result<T> {
    let damaged = |_| anyhow!("the conversation {} is damaged", path.display());
    serde_json::from_slice(bytes).map_err(damaged)
}

#[cfg(test)]
mod tests;
