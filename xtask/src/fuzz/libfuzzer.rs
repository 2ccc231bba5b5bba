//! Decides how the targets run under libFuzzer: guided by what code an input reaches.
//!
//! Knows the flags that make code count what it reaches, which the stable compiler has, and that a
//! sanitiser needs more than they do. Refuses to know any target. What is found stays under
//! `target/libfuzzer`; the corpus of the repository grows only when that is asked for.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail, ensure};

use crate::workspace::Workspace;

/// Inputs are no longer than this; the same as for changed inputs on stable.
const LONGEST: usize = 16 * 1024;
/// Only shorter inputs join the corpus of the repository, so that it stays small.
const LONGEST_KEPT: usize = 512;
/// What an input may take, in seconds, before it counts as a hang.
const PATIENCE: u64 = 20;

/// Flags under which code counts its edges and shows what it compares; as cargo-fuzz gives them.
const COVERAGE: [&str; 9] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Cdebug-assertions",
    "-Ccodegen-units=1",
];

/// What is asked of libFuzzer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) seconds: u64,
    pub(super) seed: u64,
    pub(super) corpus: Corpus,
}

/// What watches memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sanitizer {
    /// Nothing: no crate of ours has unsafe code in what decodes. The stable compiler is enough.
    None,
    /// AddressSanitizer, for the unsafe code of others: an unstable flag of the compiler.
    Address,
}

/// What becomes of inputs that reach new code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Corpus {
    /// They stay under `target`.
    Read,
    /// Short ones join the corpus of the repository.
    Grow,
}

/// The programs of the targets, built once.
pub(super) struct Built<'a> {
    workspace: &'a Workspace,
    programs: PathBuf,
}

impl<'a> Built<'a> {
    /// Builds all targets; says what is missing when that is not possible.
    pub(super) fn new(workspace: &'a Workspace, sanitizer: Sanitizer) -> anyhow::Result<Self> {
        ensure!(
            has_a_compiler_of_cpp(),
            "libFuzzer is written in C++ and there is no compiler for it; install g++ or clang, or \
             leave out --libfuzzer: the same targets run on stable without it"
        );
        let host = host()?;
        // What is fuzzed is what is shipped: the versions of the workspace, whatever was here.
        let lock = |folder: &str| workspace.root().join(folder).join("Cargo.lock");
        fs::copy(lock(""), lock("fuzz")).context("cannot take the versions of the workspace")?;
        let folder = workspace.root().join("target/libfuzzer/build");
        let mut command = Command::new(cargo());
        command.args(["build", "--release", "--bins", "--target", &host]);
        command.arg("--manifest-path").arg(workspace.root().join("fuzz/Cargo.toml"));
        command.arg("--target-dir").arg(&folder).stdin(Stdio::null());
        command.env("CARGO_ENCODED_RUSTFLAGS", flags(sanitizer).join("\u{1f}"));
        // Files and lines in backtraces; no link over all crates, which takes minutes.
        command.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
        if sanitizer == Sanitizer::Address {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        let status = command.status().context("cannot run cargo")?;
        ensure!(
            status.success(),
            "the targets cannot be built for libFuzzer; cargo says why above"
        );
        Ok(Self { workspace, programs: folder.join(host).join("release") })
    }

    /// Runs one target; what it finds is kept and named.
    pub(super) fn run(&self, target: &str, asked: &Asked) -> anyhow::Result<()> {
        let [found, broken] = ["corpus", "broken"].map(|part| self.folder(part, target));
        let kept = self.kept(target);
        for folder in [&found, &broken, &kept] {
            fs::create_dir_all(folder)?;
        }
        println!("{target}: libFuzzer for {} s", asked.seconds);
        let mut command = self.program(target);
        command
            .args([&found, &kept])
            .arg(format!("-max_total_time={}", asked.seconds))
            .arg(format!("-seed={}", asked.seed))
            .arg(format!("-artifact_prefix={}/", broken.display()))
            .args([format!("-timeout={PATIENCE}"), format!("-max_len={LONGEST}")])
            .args(["-use_value_profile=1", "-print_final_stats=1"]);
        if !ends_well(&mut command)? {
            bail!(
                "libFuzzer stopped at {target}; try the input again with \
                 `cargo xtask fuzz --replay {}/NAME {target}`",
                broken.display()
            );
        }
        if asked.corpus == Corpus::Grow { self.grow(target, &found, &kept) } else { Ok(()) }
    }

    /// Adds to the corpus the fewest short inputs that reach what it does not.
    fn grow(&self, target: &str, found: &Path, kept: &Path) -> anyhow::Result<()> {
        let mut command = self.program(target);
        command
            .args(["-set_cover_merge=1", "-use_counters=0", &format!("-max_len={LONGEST_KEPT}")])
            .args([kept, found]);
        ensure!(ends_well(&mut command)?, "the inputs of {target} cannot be merged");
        Ok(())
    }

    fn program(&self, target: &str) -> Command {
        let mut command = Command::new(self.programs.join(target));
        command.current_dir(self.workspace.root()).stdin(Stdio::null());
        command
    }

    fn folder(&self, part: &str, target: &str) -> PathBuf {
        self.workspace.root().join("target/libfuzzer").join(part).join(target)
    }

    fn kept(&self, target: &str) -> PathBuf {
        self.workspace.root().join("crates/wire-fuzz/corpus").join(target)
    }
}

/// Runs libFuzzer and passes on what it says, but for lines about each input that it keeps.
fn ends_well(command: &mut Command) -> anyhow::Result<bool> {
    let mut child = command.stderr(Stdio::piped()).spawn().context("cannot run the target")?;
    let said = child.stderr.take().context("the target says nothing")?;
    for line in BufReader::new(said).split(b'\n') {
        let line = line.context("cannot read what the target says")?;
        let line = String::from_utf8_lossy(&line);
        if is_told(&line) {
            eprintln!("{line}");
        }
    }
    Ok(child.wait()?.success())
}

fn is_told(line: &str) -> bool {
    let kept = line.starts_with('#') || line.trim_start().starts_with("NEW_FUNC");
    !kept || line.contains("INITED") || line.contains("DONE")
}

fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn flags(sanitizer: Sanitizer) -> Vec<&'static str> {
    let watched = (sanitizer == Sanitizer::Address).then_some("-Zsanitizer=address");
    COVERAGE.into_iter().chain(watched).collect()
}

fn has_a_compiler_of_cpp() -> bool {
    let named = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut asked = Command::new(named);
    asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}

/// What this machine is called by the compiler. Named as a target, so that build scripts and
/// procedural macros are built without the flags.
fn host() -> anyhow::Result<String> {
    let asked = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8(asked.stdout).context("rustc says what is no text")?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what machine it runs on")?.to_owned())
}

#[cfg(test)]
mod tests;
