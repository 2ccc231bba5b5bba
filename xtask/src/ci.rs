//! Decides what has to be green before a change goes in, and in which order it is looked at.
//!
//! Cheap checks come first; the first failure stops. One profile and one feature set, so that no
//! crate is built twice.

use std::{
    env,
    io::{self, Write},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use crate::{arrows, fuzz, licences, public_api, servers, size, tidy, workspace::Workspace};

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also what takes too long for every change: each decoder fuzzed for three minutes and again
    /// under libFuzzer, real servers, the size of the release, and the benches with bounds. About
    /// an hour and a half on two cores; wants a compiler for C++ and a gigabyte of packages.
    #[arg(long)]
    full: bool,
}

/// A named check.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> anyhow::Result<()>,
}

const STEPS: [Step; 11] = [
    Step { name: "fmt", run: |at| cargo(at, &["fmt", "--all", "--check"]) },
    Step { name: "tidy", run: tidy::run },
    Step { name: "arrows", run: arrows::run },
    Step { name: "clippy", run: |at| cargo(at, &CLIPPY) },
    Step {
        name: "tests",
        run: |at| cargo(at, &["test", "--workspace", "--all-targets", "--locked"]),
    },
    Step { name: "doctests", run: |at| cargo(at, &["test", "--workspace", "--doc", "--locked"]) },
    Step { name: "docs", run: |at| cargo(at, &["doc", "--workspace", "--no-deps", "--locked"]) },
    Step { name: "licences", run: licences::run },
    Step { name: "public-api", run: public_api::compare },
    Step { name: "fuzz", run: fuzz::each_for_a_while },
    Step { name: "servers", run: servers::scripted },
];
const CLIPPY: [&str; 7] =
    ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];

/// What the time for a change does not allow. Benches come last: on a busy machine their figures
/// are the only thing that a change may be innocent of.
const LONG_STEPS: [Step; 7] = [
    Step { name: "size", run: size::run },
    Step { name: "servers --all", run: servers::real },
    Step { name: "fuzz for long", run: fuzz::each_for_long },
    Step { name: "libfuzzer", run: fuzz::each_under_libfuzzer },
    Step { name: "streaming", run: |at| bench(at, "openai-adapter", "streaming") },
    Step { name: "rounds", run: |at| bench(at, "openai-adapter", "rounds") },
    Step { name: "cycles", run: |at| bench(at, "runtime-kernel", "cycles") },
];

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

/// Runs every step until one fails, then prints what was done.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let long: &[Step] = if options.full { &LONG_STEPS } else { &[] };
    let steps: Vec<&Step> = STEPS.iter().chain(long).collect();
    let (ends, failure) = run_all(&steps, workspace);
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    println!("\n{}", summary(&names, &ends));
    failure.map_or(Ok(()), Err)
}

fn run_all(steps: &[&Step], workspace: &Workspace) -> (Vec<End>, Option<anyhow::Error>) {
    let mut ends = vec![End::NotRun; steps.len()];
    for (step, end) in steps.iter().zip(&mut ends) {
        heading(step.name);
        let started = Instant::now();
        let result = (step.run)(workspace);
        let took = started.elapsed();
        match result {
            Ok(()) => *end = End::Passed(took),
            Err(error) => {
                *end = End::Failed(took);
                let told = error.context(format!("the step `{}` failed", step.name));
                return (ends, Some(told));
            }
        }
        println!("== {} passed in {}", step.name, seconds(took));
    }
    (ends, None)
}

fn heading(name: &str) {
    println!("\n== {name}");
    // Cargo writes to the same terminal; the heading must come first.
    io::stdout().flush().ok();
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<()> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(workspace.root()).env("RUSTDOCFLAGS", "-D warnings");
    finish(&mut command, arguments)
}

fn bench(workspace: &Workspace, package: &str, name: &str) -> anyhow::Result<()> {
    cargo(workspace, &["bench", "--locked", "-p", package, "--bench", name, "--", "--check"])
}

fn finish(command: &mut Command, arguments: &[&str]) -> anyhow::Result<()> {
    let status = command.stdin(Stdio::null()).status().context("cannot run cargo")?;
    if !status.success() {
        bail!("`cargo {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}

fn summary(names: &[&str], ends: &[End]) -> String {
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let rows = names.iter().zip(ends).map(|(name, end)| match end {
        End::Passed(took) => format!("{name:width$}  passed  {:>8}", seconds(*took)),
        End::Failed(took) => format!("{name:width$}  FAILED  {:>8}", seconds(*took)),
        End::NotRun => format!("{name:width$}  not run"),
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests;
