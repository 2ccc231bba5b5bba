//! Decides the form of the texts that people read first: `AGENTS.md` and the decision notes.

use std::collections::BTreeMap;

use crate::{problem::Problem, workspace::TextFile};

const MAX_LINES: usize = 60;
const HEADINGS: [&str; 4] = ["## Context", "## Decision", "## Alternatives", "## Consequences"];
const FOLDER: &str = "docs/adr/";

/// Length of `AGENTS.md`; length, name and headings of a decision note.
pub(crate) fn check(file: &TextFile) -> Vec<Problem> {
    if file.path == "AGENTS.md" {
        return length(file, "agents-file").into_iter().collect();
    }
    if !is_note(file) {
        return Vec::new();
    }
    [length(file, "decision-note"), number(file).is_none().then(|| misnamed(file)), headings(file)]
        .into_iter()
        .flatten()
        .collect()
}

/// No two decision notes have the same number.
pub(crate) fn check_numbers(files: &[TextFile]) -> Vec<Problem> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| is_note(file)) {
        let Some(number) = number(file) else { continue };
        if let Some(other) = first.insert(number, &file.path) {
            let says = format!("has the number of {other}; take the next free one");
            problems.push(Problem::of(&file.path, "decision-note", says));
        }
    }
    problems
}

fn is_note(file: &TextFile) -> bool {
    file.path.starts_with(FOLDER) && file.path.ends_with(".md")
}

fn number(file: &TextFile) -> Option<&str> {
    let (number, title) = file.name().split_once('-')?;
    let digits = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    (digits && title.len() > ".md".len()).then_some(number)
}

fn misnamed(file: &TextFile) -> Problem {
    Problem::of(&file.path, "decision-note", "the name is `NNNN-title.md`")
}

fn length(file: &TextFile, rule: &'static str) -> Option<Problem> {
    let lines = file.text.lines().count();
    let says = format!("{lines} lines; at most {MAX_LINES}");
    (lines > MAX_LINES).then(|| Problem::of(&file.path, rule, says))
}

fn headings(file: &TextFile) -> Option<Problem> {
    let mut lines = file.text.lines().map(str::trim_end);
    let missing = HEADINGS.into_iter().find(|heading| !lines.any(|line| line == *heading))?;
    let says = format!("`{missing}` is missing or out of order; wanted: {}", HEADINGS.join(", "));
    Some(Problem::of(&file.path, "decision-note", says))
}

#[cfg(test)]
mod tests;
