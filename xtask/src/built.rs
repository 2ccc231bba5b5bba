//! Decides how a test program of the workspace is built so that another command can run it.
//!
//! It is built as `cargo test --workspace` builds it, so that what a test run left is used again.

use std::{
    collections::BTreeMap,
    env,
    io::BufReader,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use cargo_metadata::Message;

use crate::workspace::Workspace;

/// Builds the test targets of these names with all that they need, and gives the programs that came
/// of it, by name.
pub(crate) fn programs(
    workspace: &Workspace,
    tests: &[&str],
) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(["test", "--workspace", "--locked", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics");
    tests.iter().for_each(|test| {
        command.args(["--test", test]);
    });
    let command = command.current_dir(workspace.root()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let mut programs = BTreeMap::new();
    for message in Message::parse_stream(BufReader::new(output)) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read cargo")?
            && let Some(path) = artifact.executable
        {
            programs.insert(artifact.target.name, path.into_std_path_buf());
        }
    }
    ensure!(child.wait()?.success(), "the tests {} cannot be built", tests.join(", "));
    Ok(programs)
}
