//! Decides where the command keeps its own files.
//!
//! Knows the user's folders. Invariant: nothing is read from, or kept in, the folder that the
//! agent works on.

use std::path::PathBuf;

use anyhow::Context;
use etcetera::{AppStrategy, AppStrategyArgs, app_strategy::Xdg};

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

    /// The folder of artifacts; it need not exist.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.state.join("artifacts")
    }
}

/// Whom receipts are billed to: the name of the account that runs the command.
pub(crate) fn user() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "local".to_owned())
}
