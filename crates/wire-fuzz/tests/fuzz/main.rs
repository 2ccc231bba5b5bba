//! Decides what `cargo xtask fuzz` runs: each target on its corpus and on what changes make of it.
//!
//! Without arguments, as one test among others, each target gets its corpus and a second of changes
//! under a fixed seed. A failure is written to a file, with the command that tries it again.

mod counting;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use wire_fuzz::{Campaign, Finding, TARGETS, Target, keep_panics_quiet};

const USAGE: &str = "usage: [--list] [--seconds N] [--seed S] [--replay FILE] [TARGET]...";

/// What the command line asks for.
#[derive(Debug)]
struct Asked {
    seconds: u64,
    seed: u64,
    replay: Option<PathBuf>,
    targets: Vec<&'static Target>,
}

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "--list") {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        return ExitCode::SUCCESS;
    }
    let asked = match read(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(problem) => {
            eprintln!("error: {problem}; {USAGE}");
            return ExitCode::from(2);
        }
    };
    if let Some(file) = &asked.replay {
        return replay(&asked.targets, file);
    }
    keep_panics_quiet();
    let failed = asked.targets.iter().filter(|target| !fuzz(target, &asked)).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked { seconds: 1, seed: 1, replay: None, targets: Vec::new() };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--seconds" => asked.seconds = number(&value()?)?,
            "--seed" => asked.seed = number(&value()?)?,
            "--replay" => asked.replay = Some(value()?.into()),
            name => {
                let target = Target::named(name).ok_or(format!("{name} is no target"))?;
                asked.targets.push(target);
            }
        }
    }
    if asked.targets.is_empty() {
        asked.targets = TARGETS.iter().collect();
    }
    Ok(asked)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

/// Tries one input as it is, with the panic in full.
fn replay(targets: &[&Target], file: &Path) -> ExitCode {
    match fs::read(file) {
        Ok(input) => {
            for target in targets {
                (target.run)(&input);
                println!("{}: {} bytes, every promise held", target.name, input.len());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: cannot read {}: {error}", file.display());
            ExitCode::from(2)
        }
    }
}

fn fuzz(target: &'static Target, asked: &Asked) -> bool {
    let corpus = corpus(target.name);
    let (seeds, began) = (corpus.len(), Instant::now());
    let until = began + Duration::from_secs(asked.seconds);
    let report = Campaign::new(target, corpus, asked.seed).run(until);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{:12} {} inputs in {seconds:.1} s, {seeds} of them kept, {} ways",
        target.name, report.tried, report.shapes
    );
    match report.finding {
        None => true,
        Some(finding) => {
            tell(target, asked.seed, &finding);
            false
        }
    }
}

fn tell(target: &Target, seed: u64, finding: &Finding) {
    let file = folder("target/fuzz").join(format!("{}-{seed}.input", target.name));
    let written = fs::create_dir_all(folder("target/fuzz"))
        .and_then(|()| fs::write(&file, &finding.input))
        .map_or_else(|error| format!("could not be written: {error}"), |()| String::new());
    let name = target.name;
    println!("{name}: seed {seed}, input {}: {}", finding.after, finding.message);
    println!("{}", String::from_utf8_lossy(&finding.input[..finding.input.len().min(2_000)]));
    println!("the input is in {} {written}", file.display());
    println!("again: cargo xtask fuzz --replay {} {name}", file.display());
}

/// The inputs that are kept in the repository, in order of their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no corpus", folder.display());
    files.iter().map(|file| fs::read(file).expect("a file of the corpus")).collect()
}

/// A folder of the workspace.
fn folder(path: &str) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().and_then(Path::parent).unwrap_or(crate_folder).join(path)
}
