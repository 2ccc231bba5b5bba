//! Decides which files and which packages belong to the repository.
//!
//! Files are those git tracks or would track; packages come from `cargo metadata`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand};

/// The checked-out repository.
pub(crate) struct Workspace {
    root: PathBuf,
}

/// A text file of the repository.
pub(crate) struct TextFile {
    /// Path from the root, with `/` between its parts.
    pub(crate) path: String,
    /// Its text; what is no UTF-8 is replaced.
    pub(crate) text: String,
}

impl TextFile {
    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl Workspace {
    /// The workspace that this command was built from, whatever the current directory is.
    pub(crate) fn locate() -> anyhow::Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("run me as `cargo xtask`")?;
        let root = Path::new(&manifest).parent().context("xtask has no parent folder")?;
        Ok(Self { root: root.to_path_buf() })
    }

    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Every text file that git tracks, or would after `git add --all`, in order of their paths.
    pub(crate) fn text_files(&self) -> anyhow::Result<Vec<TextFile>> {
        let mut files = Vec::new();
        for path in self.paths()? {
            let file = self.root.join(&path);
            if !file.is_file() {
                continue;
            }
            let bytes = fs::read(&file).with_context(|| format!("cannot read {path}"))?;
            if !bytes.contains(&0) {
                files.push(TextFile { path, text: String::from_utf8_lossy(&bytes).into_owned() });
            }
        }
        Ok(files)
    }

    fn paths(&self) -> anyhow::Result<Vec<String>> {
        // A checkout that another user owns is read, never run, so its owner does not matter.
        let listed = Command::new("git")
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others"])
            .arg("--exclude-standard")
            .current_dir(&self.root)
            .output()
            .context("cannot run git")?;
        let complaint = String::from_utf8_lossy(&listed.stderr);
        ensure!(listed.status.success(), "git ls-files failed: {}", complaint.trim());
        let text = String::from_utf8(listed.stdout).context("a file name is no UTF-8")?;
        let mut paths: Vec<_> =
            text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Packages and the resolved graph, with every cargo feature of ours on.
    pub(crate) fn metadata(&self) -> anyhow::Result<Metadata> {
        MetadataCommand::new()
            .manifest_path(self.root.join("Cargo.toml"))
            .features(CargoOpt::AllFeatures)
            .other_options(["--locked".to_owned()])
            .exec()
            .context("cargo metadata failed")
    }
}
