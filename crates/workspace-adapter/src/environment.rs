//! Decides what a command sees of the host's environment.
//!
//! Knows an allow-list and nothing else. Invariant: a variable that is not named here never
//! reaches a command, whatever it is called.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use tempfile::TempDir;

/// Marks every process of one command, so that all can be found again.
pub(crate) const MARKER: &str = "AGENT_RUNTIME_COMMAND";

/// Variables that pass. Spelt out: a prefix such as `LC_` would let anything through that dares
/// to begin with it.
const PASSED: [&str; 16] = [
    "LANG",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "TERM",
    "TZ",
];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A home of its own for the commands of one workspace, removed with it.
#[derive(Debug)]
pub(crate) struct CommandHome {
    folder: TempDir,
}

impl CommandHome {
    /// Makes the home, open to this user only.
    pub(crate) fn make() -> std::io::Result<Self> {
        let private = std::fs::Permissions::from_mode(0o700);
        let folder =
            tempfile::Builder::new().prefix("agent-home-").permissions(private).tempdir()?;
        std::fs::create_dir(folder.path().join("tmp"))?;
        Ok(Self { folder })
    }

    /// The whole environment of a command.
    pub(crate) fn environment(&self, marker: &str) -> Vec<(OsString, OsString)> {
        let mut environment = passed(env::vars_os());
        let home = self.folder.path();
        environment.push(("HOME".into(), home.into()));
        environment.push(("TMPDIR".into(), home.join("tmp").into()));
        environment.push((MARKER.into(), marker.into()));
        environment
    }
}

/// What passes of the host's variables, and a search path of absolute folders.
fn passed(host: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut search_path = OsString::from(DEFAULT_PATH);
    let mut environment = Vec::new();
    for (name, value) in host {
        match name.to_str() {
            Some("PATH") => search_path = absolute_only(&value),
            Some(name) if PASSED.contains(&name) => environment.push((name.into(), value)),
            _ => {}
        }
    }
    environment.push(("PATH".into(), search_path));
    environment
}

/// A relative folder on the search path would let the workspace replace every program.
fn absolute_only(path: &OsStr) -> OsString {
    let absolute = env::split_paths(path).filter(|folder| Path::is_absolute(folder));
    env::join_paths(absolute)
        .ok()
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| OsString::from(DEFAULT_PATH))
}

#[cfg(test)]
mod tests;
