//! Decides how a server gets onto this machine: from npm or PyPI, in the pinned version, once.
//!
//! Invariant: what is there was made from the pins as they are now; otherwise it is made anew. The
//! hashes of what `ci` installs stand in the pins.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::Context;

use super::{path_with, patience};

/// Longest time of one installation; the largest is three quarters of a gigabyte.
const INSTALLATION: Duration = Duration::from_secs(900);
/// The oldest node that the scripted server runs on.
const OLDEST_NODE: (u32, u32) = (20, 15);

/// Where servers are installed, and from which pins.
pub(super) struct Installed {
    folder: PathBuf,
    recipes: PathBuf,
}

/// What starts the scripted server.
pub(super) struct Aimock {
    pub(super) node: PathBuf,
    pub(super) script: PathBuf,
}

impl Installed {
    pub(super) fn within(folder: &Path, recipes: &Path) -> Self {
        Self { folder: folder.to_path_buf(), recipes: recipes.to_path_buf() }
    }

    pub(super) fn recipes(&self) -> &Path {
        &self.recipes
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// A Python environment of its own with what `NAME.txt` pins.
    pub(super) fn python(&self, name: &str) -> anyhow::Result<PathBuf> {
        let pins = self.recipes.join(format!("{name}.txt"));
        let made = self.folder.join(name);
        self.once(&made, &pins, |made| {
            let mut venv = Command::new("python3");
            venv.args(["-m", "venv"]).arg(made);
            self.step(&mut venv, name).context("python3 needs its venv (Debian: python3-venv)")?;
            let mut pip = Command::new(made.join("bin/pip"));
            pip.args(["install", "--disable-pip-version-check", "--no-input", "--no-cache-dir"]);
            // The pins name all that is needed.
            pip.arg("--no-deps");
            self.step(pip.arg("-r").arg(&pins), name)
        })?;
        Ok(made)
    }

    /// The scripted server, and a node that is new enough for it: the one of the system, or else one
    /// from PyPI, since Debian's may be too old.
    pub(super) fn aimock(&self) -> anyhow::Result<Aimock> {
        let node = self.node()?;
        let lock = self.recipes.join("aimock/package-lock.json");
        let made = self.folder.join("aimock");
        self.once(&made, &lock, |made| {
            fs::create_dir_all(made)?;
            for name in ["package.json", "package-lock.json"] {
                fs::copy(self.recipes.join("aimock").join(name), made.join(name))?;
            }
            let mut npm = Command::new(node.with_file_name("npm"));
            npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(made);
            let folder = node.parent().context("node is in no folder")?;
            self.step(npm.env("PATH", path_with(folder)?), "aimock")
        })?;
        let script = made.join("node_modules/@copilotkit/aimock/dist/cli.js");
        Ok(Aimock { node, script })
    }

    fn node(&self) -> anyhow::Result<PathBuf> {
        let own = PathBuf::from("node");
        let has_npm = Command::new("npm").arg("--version").output().is_ok();
        if has_npm && version(&own).is_some_and(|version| version >= OLDEST_NODE) {
            return Ok(own);
        }
        Ok(self.python("node")?.join("bin/node"))
    }

    fn once(
        &self,
        made: &Path,
        pins: &Path,
        make: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let stamp = made.with_extension("made");
        let pinned = fs::read(pins).with_context(|| format!("cannot read {}", pins.display()))?;
        if made.exists() && fs::read(&stamp).is_ok_and(|made| made == pinned) {
            return Ok(());
        }
        println!("installing {}", made.display());
        let _ = fs::remove_file(&stamp);
        let _ = fs::remove_dir_all(made);
        make(made)?;
        fs::write(&stamp, pinned).context("cannot note what was installed")
    }

    fn step(&self, command: &mut Command, name: &str) -> anyhow::Result<()> {
        let log = self.logs().join(format!("install-{name}.log"));
        patience::finish_quietly(command, INSTALLATION, &log)
            .with_context(|| format!("cannot install {name}; see {}", log.display()))
    }
}

/// Major and minor version of a node.
fn version(node: &Path) -> Option<(u32, u32)> {
    let output = Command::new(node).arg("--version").output().ok()?;
    parts(&String::from_utf8_lossy(&output.stdout))
}

fn parts(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.trim().strip_prefix('v')?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests;
