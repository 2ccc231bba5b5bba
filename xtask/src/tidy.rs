//! Decides which rules of the house every file is read against.
//!
//! One file a rule, or a family of rules; each takes text and gives problems, so that its tests are
//! snippets.

mod detached;
mod marker;
mod neutral;
mod notes;
mod purity;
mod shape;
mod unsent;
mod words;

pub(crate) use neutral::NEUTRAL_CRATES;

use std::env;

use purity::NoValues;

use crate::{
    problem::{Problem, settle},
    source::Source,
    workspace::{TextFile, Workspace},
};

/// Reads every file of the repository; fails when a rule is broken.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let files = workspace.text_files()?;
    let home = env::var("HOME").unwrap_or_default();
    let problems = check(&files, &home);
    settle("tidy", &problems)?;
    println!("{} files are tidy", files.len());
    Ok(())
}

fn check(files: &[TextFile], home: &str) -> Vec<Problem> {
    let mut problems = notes::check_numbers(files);
    let no_values = NoValues::among(files);
    for file in files {
        problems.extend(notes::check(file));
        problems.extend(words::check_machine_paths(file, home));
        problems.extend(words::check_left_open(file));
        if file.path.ends_with(".rs") {
            problems.extend(check_rust(file, &no_values));
        }
    }
    problems
}

fn check_rust(file: &TextFile, no_values: &NoValues) -> Vec<Problem> {
    let mut problems = shape::check_text(file);
    match Source::parse(file) {
        Ok(source) => {
            problems.extend(shape::check_inline_tests(&source));
            problems.extend(words::check_ignored_tests(&source));
            problems.extend(neutral::check(&source));
            problems.extend(purity::check(&source, no_values));
            problems.extend(unsent::check(&source));
            problems.extend(detached::check(&source));
        }
        Err(problem) => problems.push(problem),
    }
    problems
}

#[cfg(test)]
mod tests;
