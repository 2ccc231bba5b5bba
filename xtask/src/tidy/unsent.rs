//! Decides where a failure may say "not committed" by default.
//!
//! `PortFailure::new`, `timeout` and `canceled` claim that nothing happened. Outside the crate that
//! defines them, each use carries the comment `// nothing was sent: <why>` directly above its line
//! or above the statement around it; everything else names its disposition.

use proc_macro2::Span;
use syn::{
    Arm, Stmt, UseRename,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::marker::is_marked;
use crate::{
    problem::Problem,
    source::{Kind, Lexeme, Source},
};

const RULE: &str = "nothing-was-sent";
const TYPE: &str = "PortFailure";
const CONSTRUCTORS: [&str; 3] = ["new", "timeout", "canceled"];
const MARKER: &str = "nothing was sent:";
const HOME: &str = "crates/runtime-ports/";

/// Looks at every use in code that runs outside tests.
pub(crate) fn check(source: &Source<'_>) -> Vec<Problem> {
    let path = source.file.path.as_str();
    if !path.starts_with("crates/") || path.starts_with(HOME) {
        return Vec::new();
    }
    let mut seen = Places::default();
    seen.visit_file(&source.syntax);
    let lines: Vec<&str> = source.file.text.lines().collect();
    let mut problems: Vec<_> = uses(&source.tokens)
        .filter(|(line, _)| !source.is_test(*line))
        .filter(|(line, _)| !seen.starts_of(*line).any(|start| is_marked(&lines, start, &[MARKER])))
        .map(|(line, name)| unmarked(path, line, name))
        .collect();
    problems.extend(seen.renames.iter().map(|line| renamed(path, *line)));
    problems
}

fn unmarked(path: &str, line: usize, name: &str) -> Problem {
    let says = format!(
        "`{TYPE}::{name}` says that nothing was committed; where something may have been sent, \
         use not_sent, rejected, in_flight_unknown or committed; where nothing was, say so in \
         the line above: `// {MARKER} <why>`"
    );
    Problem::at(path, line, RULE, says)
}

fn renamed(path: &str, line: usize) -> Problem {
    Problem::at(path, line, RULE, format!("`{TYPE}` under another name escapes this check"))
}

/// Line and name of each use, in macro calls and as a function value too.
fn uses(tokens: &[Lexeme]) -> impl Iterator<Item = (usize, &str)> {
    let begins = tokens.iter().enumerate().filter(|(_, token)| token.is_word(TYPE));
    begins.filter_map(|(at, _)| {
        let mut rest = &tokens[at + 1..];
        if rest.first().is_some_and(|token| token.is_mark('>')) {
            rest = &rest[1..];
        }
        let [first, second, name, ..] = rest else { return None };
        let Kind::Word(word) = &name.kind else { return None };
        let path = first.is_mark(':') && second.is_mark(':');
        (path && CONSTRUCTORS.contains(&word.as_str())).then_some((name.line, word.as_str()))
    })
}

/// Where statements and match arms lie, and where the type is renamed.
#[derive(Default)]
struct Places {
    statements: Vec<(usize, usize)>,
    renames: Vec<usize>,
}

impl Places {
    /// The line itself, and the first line of the innermost statement or arm around it.
    fn starts_of(&self, line: usize) -> impl Iterator<Item = usize> {
        let around =
            self.statements.iter().filter(move |(start, end)| (*start..=*end).contains(&line));
        [Some(line), around.map(|(start, _)| *start).max()].into_iter().flatten()
    }

    fn note(&mut self, span: Span) {
        self.statements.push((span.start().line, span.end().line));
    }
}

impl<'ast> Visit<'ast> for Places {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        self.note(statement.span());
        visit::visit_stmt(self, statement);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        self.note(arm.span());
        visit::visit_arm(self, arm);
    }

    fn visit_use_rename(&mut self, rename: &'ast UseRename) {
        if rename.ident == TYPE {
            self.renames.push(rename.ident.span().start().line);
        }
    }
}

#[cfg(test)]
mod tests;
