//! Decides where the command keeps its own files.
//!
//! Knows the user's folders. Invariant: nothing is read from, or kept in, the folder that the
//! agent works on.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use etcetera::{AppStrategy, AppStrategyArgs, app_strategy::Xdg};
use uuid::Uuid;

/// The user's folders for this command.
pub(crate) struct Places {
    configuration: PathBuf,
    state: PathBuf,
}

impl Places {
    /// Finds them: `XDG_CONFIG_HOME` and `XDG_STATE_HOME`, else `~/.config` and `~/.local/state`.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let strategy = Xdg::new(AppStrategyArgs {
            top_level_domain: "dev".to_owned(),
            author: "agent-runtime".to_owned(),
            app_name: "agent".to_owned(),
        })
        .context("no home folder was found; set HOME")?;
        let state = strategy.state_dir().context("no state folder was found; set HOME")?;
        Ok(Self { configuration: strategy.config_dir(), state })
    }

    /// The folder of the user's own settings; it need not exist.
    pub(crate) fn configuration(&self) -> PathBuf {
        self.configuration.clone()
    }

    /// The configuration file; it need not exist.
    pub(crate) fn configuration_file(&self) -> PathBuf {
        self.configuration.join("config.toml")
    }

    /// The folder of receipts; it need not exist.
    pub(crate) fn receipts(&self) -> PathBuf {
        self.state.join("receipts")
    }

    /// The folder of receipts of replays, which cost nothing; it need not exist.
    pub(crate) fn receipts_of_replays(&self) -> PathBuf {
        self.state.join("replays")
    }

    /// The folder of conversations; it need not exist.
    pub(crate) fn conversations(&self) -> PathBuf {
        self.state.join("conversations")
    }

    /// The file of what was typed in conversations; it need not exist.
    pub(crate) fn typed(&self) -> PathBuf {
        self.state.join("typed")
    }

    /// The folder of what models were given in one session; it need not exist.
    pub(crate) fn audit(&self, session_id: Uuid) -> PathBuf {
        self.state.join("audits").join(session_id.to_string())
    }

    /// The folders that are this command's alone.
    pub(crate) fn own_folders(&self) -> [PathBuf; 2] {
        [self.configuration(), self.state.clone()]
    }

    /// The folder of artifacts; it need not exist.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.state.join("artifacts")
    }
}

/// Whether `inner` is `outer` or lies inside, links resolved as far as there is something.
pub(crate) fn is_within(inner: &Path, outer: &Path) -> bool {
    resolved(inner).starts_with(resolved(outer))
}

/// Makes a folder for the user alone, unless it is there.
pub(crate) fn make(folder: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// The path with its links resolved; what is not there yet is left as it is written.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in absolute.ancestors() {
        if let Ok(real) = there.canonicalize() {
            let rest = absolute.strip_prefix(there).unwrap_or(Path::new(""));
            return real.join(rest);
        }
    }
    absolute
}

/// Whom receipts are billed to: the name of the account that runs the command.
pub(crate) fn user() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "local".to_owned())
}

#[cfg(test)]
mod tests;
