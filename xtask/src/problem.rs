//! Decides how a broken rule is told: where, which rule, and what to do about it.

use std::fmt;

use anyhow::bail;

/// One broken rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// A file, `file:line`, or a crate.
    pub(crate) place: String,
    /// Short name of the rule.
    pub(crate) rule: &'static str,
    /// What is wrong and what to do.
    pub(crate) says: String,
}

impl Problem {
    /// A problem of a whole file or crate.
    pub(crate) fn of(place: &str, rule: &'static str, says: impl Into<String>) -> Self {
        Self { place: place.to_owned(), rule, says: says.into() }
    }

    /// A problem at one line of a file, counted from one.
    pub(crate) fn at(path: &str, line: usize, rule: &'static str, says: impl Into<String>) -> Self {
        Self { place: format!("{path}:{line}"), rule, says: says.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: [{}] {}", self.place, self.rule, self.says)
    }
}

/// Prints every problem; an error when there is one.
pub(crate) fn settle(command: &str, problems: &[Problem]) -> anyhow::Result<()> {
    for problem in problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("{command} found 1 problem"),
        many => bail!("{command} found {many} problems"),
    }
}
