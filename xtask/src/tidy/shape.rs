//! Decides what a Rust file looks like from outside: first line, length, name, where tests live.

use syn::{
    ItemMod,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{
    problem::Problem,
    source::{Source, is_test_only},
    workspace::TextFile,
};

const MAX_LINES: usize = 800;
const EXPLAIN_LINES: usize = 500;
const MAX_INLINE_TEST_LINES: usize = 40;
const EXPLANATION: &str = "//! Length:";
const VAGUE_NAMES: [&str; 9] =
    ["utils", "util", "helpers", "helper", "common", "types", "type", "manager", "misc"];

/// First line, length and name of a file.
pub(crate) fn check_text(file: &TextFile) -> Vec<Problem> {
    [module_doc(file), length(file), name(file)].into_iter().flatten().collect()
}

fn module_doc(file: &TextFile) -> Option<Problem> {
    let first = file.text.lines().next().unwrap_or_default();
    let says = first.strip_prefix("//!").is_some_and(|doc| !doc.trim().is_empty());
    (!says).then(|| {
        let hint = "line one is a `//!` doc that says what the file decides";
        Problem::at(&file.path, 1, "module-doc", hint)
    })
}

fn length(file: &TextFile) -> Option<Problem> {
    let lines = file.text.lines().count();
    let explained = || {
        let mut doc = file.text.lines().take_while(|line| line.starts_with("//!"));
        doc.any(|line| line.strip_prefix(EXPLANATION).is_some_and(|why| !why.trim().is_empty()))
    };
    let says = if lines > MAX_LINES {
        format!("{lines} lines; at most {MAX_LINES}, so split the file by what it decides")
    } else if lines > EXPLAIN_LINES && !explained() {
        format!("{lines} lines; over {EXPLAIN_LINES} the module doc says why: `{EXPLANATION} …`")
    } else {
        return None;
    };
    Some(Problem::of(&file.path, "file-length", says))
}

fn name(file: &TextFile) -> Option<Problem> {
    let mut parts = file.path.trim_end_matches(".rs").split('/');
    let vague = parts.find(|part| VAGUE_NAMES.contains(part))?;
    let says = format!("`{vague}` says nothing; name the file after the concept it holds");
    Some(Problem::of(&file.path, "file-name", says))
}

/// Unit tests live in a sibling file; a few lines may stay.
pub(crate) fn check_inline_tests(source: &Source<'_>) -> Vec<Problem> {
    let mut modules = InlineTests { path: &source.file.path, problems: Vec::new() };
    modules.visit_file(&source.syntax);
    modules.problems
}

struct InlineTests<'a> {
    path: &'a str,
    problems: Vec<Problem>,
}

impl<'ast> Visit<'ast> for InlineTests<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let (start, end) = (module.mod_token.span.start().line, module.span().end().line);
        let lines = end - start;
        if is_test_only(&module.attrs) && lines > MAX_INLINE_TEST_LINES {
            let says = format!(
                "{lines} lines of tests inside the file; write `mod {};` and a sibling file",
                module.ident
            );
            self.problems.push(Problem::at(self.path, start, "inline-tests", says));
        }
        visit::visit_item_mod(self, module);
    }
}

#[cfg(test)]
mod tests;
