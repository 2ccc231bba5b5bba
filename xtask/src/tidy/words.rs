//! Decides which words may not stay behind: unfinished work, silenced tests, paths of one machine.
//!
//! The words are put together from halves, so that this file does not break its own rules.

use syn::{Attribute, Meta, visit::Visit};

use crate::{problem::Problem, source::Source, workspace::TextFile};

const LEFT_OPEN: [&str; 5] = [
    concat!("todo", "!"),
    concat!("unimplemented", "!"),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

const MACHINE_FOLDERS: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Use", "rs/"),
    concat!("/buil", "ds/"),
];

/// No unfinished work in code, manifests and CI scripts.
pub(crate) fn check_left_open(file: &TextFile) -> Vec<Problem> {
    let path = file.path.as_str();
    if !(path.ends_with(".rs") || path.ends_with(".toml") || path.starts_with(".ci/")) {
        return Vec::new();
    }
    let broken = |line: &str| LEFT_OPEN.into_iter().find(|word| has_word(line, word));
    each_line(file, |number, line| {
        let says = format!("`{}` is left open; finish it or write an issue", broken(line)?);
        Some(Problem::at(path, number, "left-open", says))
    })
}

/// No absolute path of somebody's machine in any file; `home` is the home folder of who asks.
pub(crate) fn check_machine_paths(file: &TextFile, home: &str) -> Vec<Problem> {
    if file.name().ends_with(".lock") {
        return Vec::new();
    }
    let own = format!("{}/", home.trim_end_matches('/'));
    // A home of one part is a folder such as the temporary one, which tests may well name.
    let own = (own.matches('/').count() > 2).then_some(own.as_str());
    let folders: Vec<&str> = MACHINE_FOLDERS.into_iter().chain(own).collect();
    each_line(file, |number, line| {
        let folder = folders.iter().find(|folder| begins_a_path(line, folder))?;
        let says = format!("`{folder}…` exists on one machine only; name it from the root");
        Some(Problem::at(&file.path, number, "machine-path", says))
    })
}

/// An ignored test says why.
pub(crate) fn check_ignored_tests(source: &Source<'_>) -> Vec<Problem> {
    let mut ignored = Ignored { path: &source.file.path, problems: Vec::new() };
    ignored.visit_file(&source.syntax);
    ignored.problems
}

struct Ignored<'a> {
    path: &'a str,
    problems: Vec<Problem>,
}

impl<'ast> Visit<'ast> for Ignored<'_> {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("ignore") && !gives_reason(&attribute.meta) {
            let line = attribute.pound_token.span.start().line;
            let says = "say why the test is ignored: `#[ignore = \"…\"]`";
            self.problems.push(Problem::at(self.path, line, "ignored-test", says));
        }
    }
}

fn gives_reason(meta: &Meta) -> bool {
    let Meta::NameValue(pair) = meta else { return false };
    let syn::Expr::Lit(value) = &pair.value else { return false };
    matches!(&value.lit, syn::Lit::Str(reason) if !reason.value().trim().is_empty())
}

fn each_line(
    file: &TextFile,
    mut check: impl FnMut(usize, &str) -> Option<Problem>,
) -> Vec<Problem> {
    let lines = file.text.lines().enumerate();
    lines.filter_map(|(index, line)| check(index + 1, line)).collect()
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(in_word) && (word.ends_with('!') || !after.is_some_and(in_word))
    })
}

fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|mark| in_word(mark) || matches!(mark, '.' | '-' | '}' | ')'))
    })
}

fn in_word(mark: char) -> bool {
    mark.is_alphanumeric() || mark == '_'
}

#[cfg(test)]
mod tests;
