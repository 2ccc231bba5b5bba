//! Decides which words the rules know.
//!
//! Refuses to know what a sentence of them asks for.

pub(crate) const COUNT: &[&str] =
    &["count", "many", "number", "total", "totals", "counts", "tally"];
pub(crate) const SEARCH: &[&str] = &[
    "search",
    "find",
    "grep",
    "mention",
    "mentions",
    "contain",
    "contains",
    "containing",
    "occurrences",
];
pub(crate) const SUMMARISE: &[&str] =
    &["summarise", "summarize", "summary", "overview", "describe", "outline"];
pub(crate) const READ: &[&str] =
    &["read", "show", "print", "open", "cat", "display", "say", "says", "what"];
pub(crate) const LIST: &[&str] =
    &["list", "ls", "files", "folder", "directory", "entries", "contents"];
const UNITS: &[&str] = &["line", "lines", "word", "words", "byte", "bytes", "size", "sizes"];

/// Whether a word belongs to the rules, and so names no folder.
pub(crate) fn is_vocabulary(word: &str) -> bool {
    let own =
        ["write", "save", "file", "for", "into", "please", "me", "all", "is", "are", "subfolders"];
    let groups: [&[&str]; 7] = [COUNT, SEARCH, SUMMARISE, READ, LIST, UNITS, &own];
    groups.iter().any(|group| group.contains(&word))
}
