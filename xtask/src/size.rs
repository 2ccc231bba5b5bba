//! Decides whether the command stays as small as was promised.
//!
//! Knows one number. The optimised build takes minutes, so this is a step of `ci --full` alone;
//! where it was built before, it costs a second.

use std::{env, fs, process::Command};

use anyhow::{Context, bail, ensure};

use crate::workspace::Workspace;

/// What `docs/performance.md` promises, in bytes.
const MOST: u64 = 15 << 20;

const BUILD: [&str; 5] = ["build", "--release", "--locked", "-p", "agent-cli"];

/// Builds the command as it is shipped and fails when it is too large.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(program).args(BUILD).current_dir(workspace.root()).status();
    ensure!(built.context("cannot run cargo")?.success(), "`cargo {}` failed", BUILD.join(" "));
    let name = format!("release/agent{}", env::consts::EXE_SUFFIX);
    let path = workspace.metadata()?.target_directory.join(name);
    let bytes = fs::metadata(&path).with_context(|| format!("cannot find {path}"))?.len();
    println!("{}", told(bytes));
    if bytes > MOST {
        bail!("that is more than {}; see docs/performance.md", told(MOST));
    }
    Ok(())
}

/// An amount in both units, the larger one down to a tenth.
fn told(bytes: u64) -> String {
    let tenths = (bytes * 10).div_ceil(1 << 20);
    format!("{bytes} bytes, or {}.{} MiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests;
