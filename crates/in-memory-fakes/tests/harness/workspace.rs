//! Decides how a layout becomes a `FakeWorkspace`.
//!
//! Knows nothing about what the scenarios expect. Nothing lies beside a workspace in memory: what
//! a layout puts there is kept as it is, since the fake has no way to reach it.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{CommandStep, FakeWorkspace};
use port_conformance::{
    Unstageable,
    workspace::{
        CommandDoing, Layout, PlannedCommand, StagedWorkspace, WorkspaceCapabilities,
        WorkspaceHarness, WorkspaceWorld,
    },
};
use runtime_ports::CommandOutput;

/// A `FakeWorkspace` behind every scenario. It has no links.
pub(crate) struct FakeWorkspaceHarness;

#[async_trait]
impl WorkspaceHarness for FakeWorkspaceHarness {
    fn capabilities(&self) -> WorkspaceCapabilities {
        WorkspaceCapabilities { links: false, ..WorkspaceCapabilities::ALL }
    }

    async fn stage(&self, layout: Layout) -> Result<StagedWorkspace, Unstageable> {
        if layout.links.is_empty() {
            return Ok(staged(&layout));
        }
        Err(Unstageable::because("a workspace in memory has no links"))
    }
}

/// The workspace of this layout, without its links.
pub(crate) fn staged(layout: &Layout) -> StagedWorkspace {
    let empty = FakeWorkspace::new(layout.commands.iter().map(step));
    empty.unchecked();
    let with_files = layout
        .files
        .iter()
        .fold(empty, |fake, (path, content)| fake.with_file(path, content.clone()));
    let fake = layout.ignored.iter().cloned().fold(with_files, FakeWorkspace::with_ignored);
    StagedWorkspace {
        session: Arc::new(fake.clone()),
        world: Arc::new(Memory { fake, outside: layout.outside.clone() }),
        root: Some("/memory/ws".into()),
        protected: vec![".git".into(), ".env".into()],
    }
}

struct Memory {
    fake: FakeWorkspace,
    outside: Vec<(String, Vec<u8>)>,
}

impl WorkspaceWorld for Memory {
    fn inside(&self, path: &str) -> Option<Vec<u8>> {
        self.fake.files().get(path).cloned()
    }

    fn outside(&self, path: &str) -> Option<Vec<u8>> {
        let found = self.outside.iter().find(|(outside, _)| outside == path);
        found.map(|(_, content)| content.clone())
    }
}

/// A scripted command that does it.
fn step(planned: &PlannedCommand) -> CommandStep {
    match &planned.doing {
        CommandDoing::Prints { stdout, stderr, exit_code } => CommandStep::output(CommandOutput {
            exit_code: i32::from(*exit_code),
            stdout: stdout.clone(),
            stderr: stderr.clone(),
            truncated: false,
        }),
        CommandDoing::Makes { name, content } => {
            let folder = planned.cwd.as_deref().unwrap_or(".");
            CommandStep::writes(format!("{folder}/{name}"), content.as_bytes())
        }
        CommandDoing::DiesOf(signal) => CommandStep::exits(128 + i32::from(*signal), ""),
        CommandDoing::LeavesAChild { .. } => CommandStep::exits(0, ""),
        CommandDoing::Sleeps | CommandDoing::SleepsBesideAChild { .. } => CommandStep::stall(),
        CommandDoing::Floods { bytes } => {
            let filling = "x".repeat(bytes - "head\n\ntail\n".len());
            CommandStep::exits(0, format!("head\n{filling}\ntail\n"))
        }
    }
}
