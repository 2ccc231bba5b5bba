//! Decides how the decoders are fuzzed: which targets, for how long, and how many at once.
//!
//! Knows the program of the targets, which `wire-fuzz` has as a test; refuses to know any target.

mod libfuzzer;

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};

use crate::{built, workspace::Workspace};
use libfuzzer::{Asked, Built, Corpus, Sanitizer};

/// How long each target runs as a step of `ci`.
const A_WHILE: u64 = 20;
/// How long as a step of `ci --full`.
const LONG: u64 = 180;
/// What a target may take beyond its time: its corpus, its last input, a finding made shorter.
const GRACE: Duration = Duration::from_secs(120);

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long each target runs.
    #[arg(long, value_name = "N", default_value_t = A_WHILE)]
    seconds: u64,
    /// What chance begins with; the same seed tries the same inputs.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Tries one input, as it is.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Runs the targets one after the other under libFuzzer, guided by the code that inputs reach.
    /// Wants a compiler for C++.
    #[arg(long)]
    libfuzzer: bool,
    /// What watches memory under libFuzzer; `address` sets RUSTC_BOOTSTRAP for the build.
    #[arg(long, value_enum, default_value = "none", requires = "libfuzzer")]
    sanitizer: Sanitizer,
    /// Adds short inputs that reach new code to the corpus of the repository.
    #[arg(long, requires = "libfuzzer")]
    grow: bool,
    /// Which targets; all of them by default.
    targets: Vec<String>,
}

impl Options {
    fn for_seconds(seconds: u64) -> Self {
        let (sanitizer, targets) = (Sanitizer::None, Vec::new());
        Self { seconds, seed: 1, replay: None, libfuzzer: false, sanitizer, grow: false, targets }
    }
}

/// The step of `ci`: each target for a while, under a fixed seed.
pub(crate) fn each_for_a_while(workspace: &Workspace) -> anyhow::Result<()> {
    run(workspace, &Options::for_seconds(A_WHILE))
}

/// The steps of `ci --full`: each target for long, and each guided by coverage.
pub(crate) fn each_for_long(workspace: &Workspace) -> anyhow::Result<()> {
    run(workspace, &Options::for_seconds(LONG))
}

/// See [`each_for_long`].
pub(crate) fn each_under_libfuzzer(workspace: &Workspace) -> anyhow::Result<()> {
    run(workspace, &Options { libfuzzer: true, ..Options::for_seconds(LONG) })
}

/// Fuzzes as asked; fails with the first target that broke a promise.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let programs = built::programs(workspace, &["fuzz"])?;
    let program = programs.get("fuzz").context("there is no test called fuzz")?;
    if let Some(file) = &options.replay {
        return replay(program, file, &options.targets);
    }
    let all = listed(program)?;
    if let Some(unknown) = options.targets.iter().find(|target| !all.contains(target)) {
        bail!("{unknown} is no target; there are {}", all.join(", "));
    }
    let asked = if options.targets.is_empty() { all } else { options.targets.clone() };
    if options.libfuzzer {
        return under_libfuzzer(workspace, &asked, options);
    }
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(4);
    let mut broken = Vec::new();
    for targets in asked.chunks(at_once) {
        broken.extend(side_by_side(program, targets, options)?);
    }
    ensure!(broken.is_empty(), "broken promises: {}", broken.join(", "));
    Ok(())
}

fn listed(program: &Path) -> anyhow::Result<Vec<String>> {
    let listed = Command::new(program).arg("--list").output().context("cannot run the targets")?;
    let text = String::from_utf8(listed.stdout).context("a name of a target is no text")?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn replay(program: &Path, file: &Path, targets: &[String]) -> anyhow::Result<()> {
    ensure!(!targets.is_empty(), "say which target the input is for");
    let status = Command::new(program).arg("--replay").arg(file).args(targets).status()?;
    ensure!(status.success(), "the input breaks a promise");
    Ok(())
}

/// Runs targets at once, each in a process of its own: memory and time are counted there. Gives
/// those that broke a promise.
fn side_by_side(
    program: &Path,
    targets: &[String],
    options: &Options,
) -> anyhow::Result<Vec<String>> {
    let until = Instant::now() + Duration::from_secs(options.seconds) + GRACE;
    let start = |target: &String| {
        let mut command = Command::new(program);
        command.args(["--seconds", &options.seconds.to_string()]);
        command.args(["--seed", &options.seed.to_string(), target]).stdin(Stdio::null());
        command
    };
    let mut children = Children::start(targets.iter().map(start))?;
    let mut broken = Vec::new();
    for (child, target) in children.0.iter_mut().zip(targets) {
        if !ends_well(child, until)? {
            broken.push(target.clone());
        }
    }
    Ok(broken)
}

/// Processes that end with this.
struct Children(Vec<Child>);

impl Children {
    fn start(commands: impl Iterator<Item = Command>) -> anyhow::Result<Self> {
        let mut children = Self(Vec::new());
        for mut command in commands {
            children.0.push(command.spawn().context("cannot run a target")?);
        }
        Ok(children)
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended has been waited for.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn ends_well(child: &mut Child, until: Instant) -> anyhow::Result<bool> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() >= until {
            eprintln!("a target does not come to its end");
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn under_libfuzzer(
    workspace: &Workspace,
    targets: &[String],
    options: &Options,
) -> anyhow::Result<()> {
    let corpus = if options.grow { Corpus::Grow } else { Corpus::Read };
    let asked = Asked { seconds: options.seconds, seed: options.seed, corpus };
    let built = Built::new(workspace, options.sanitizer)?;
    targets.iter().try_for_each(|target| built.run(target, &asked))
}

#[cfg(test)]
mod tests;
