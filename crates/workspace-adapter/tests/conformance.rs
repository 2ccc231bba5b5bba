//! The suite of workspaces, run by a folder on the disk.

use std::{fs, os::unix::fs::symlink, path::Path, sync::Arc};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    workspace::{
        Layout, LinkTarget, StagedWorkspace, WorkspaceCapabilities, WorkspaceHarness,
        WorkspaceWorld,
    },
};
use tempfile::TempDir;
use workspace_adapter::FolderWorkspace;

const ROOT: &str = "ws";
const PROTECTED: [&str; 8] =
    [".git", ".GIT", ".env", ".env.local", ".vscode", ".mcp.json", ".gitmodules", "AGENTS.md"];

mod workspace {
    port_conformance::workspace_conformance!(super::FolderHarness);
}

/// A folder `ws` in a temporary folder, behind every scenario.
struct FolderHarness;

/// The temporary folder; it goes with its last owner.
struct Disk(TempDir);

#[async_trait]
impl WorkspaceHarness for FolderHarness {
    fn capabilities(&self) -> WorkspaceCapabilities {
        WorkspaceCapabilities::ALL
    }

    async fn stage(&self, layout: Layout) -> Result<StagedWorkspace, Unstageable> {
        let disk = tempfile::tempdir().expect("a temporary folder");
        let root = disk.path().join(ROOT);
        laid_out(&layout, disk.path(), &root).expect("a layout that can be made");
        let session = FolderWorkspace::open(&root).expect("a folder that is there");
        Ok(StagedWorkspace {
            session: Arc::new(session),
            world: Arc::new(Disk(disk)),
            root: root.to_str().map(str::to_owned),
            protected: PROTECTED.map(str::to_owned).into(),
        })
    }
}

impl WorkspaceWorld for Disk {
    fn inside(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.0.path().join(ROOT).join(path)).ok()
    }

    fn outside(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.0.path().join(path)).ok()
    }
}

fn laid_out(layout: &Layout, beside: &Path, root: &Path) -> std::io::Result<()> {
    fs::create_dir(root)?;
    for (base, files) in [(root, &layout.files), (beside, &layout.outside)] {
        for (path, content) in files {
            made(&base.join(path), |path| fs::write(path, content))?;
        }
    }
    for (path, target) in &layout.links {
        let target = match target {
            LinkTarget::Outside(path) => beside.join(path),
            LinkTarget::Text(text) => text.into(),
        };
        made(&root.join(path), |path| symlink(target, path))?;
    }
    if layout.ignored.is_empty() {
        return Ok(());
    }
    fs::write(root.join(".gitignore"), layout.ignored.join("\n"))
}

fn made(path: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    make(path)
}
