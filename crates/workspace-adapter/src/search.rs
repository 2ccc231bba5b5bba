//! Decides which lines below a folder contain a text, and which files were not looked into.
//!
//! Knows nothing about patterns: the text is literal. Invariant: same files, same answer, in the
//! order of path and line.

use std::{ffi::OsString, path::Path};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use memchr::memmem::Finder;
use runtime_ports::PortFailure;

use crate::{
    blocking::Gate,
    entries::{self, Entry, EntryKind, Unlisted},
    failure,
    file::{self, Unread},
    ignored::IgnoreRules,
    limits::FolderLimits,
    path::WorkspacePath,
    place::{Place, Root, joined},
    protected::{self, Access},
};

/// Each folder on the way down stays open.
const MAX_DEPTH: usize = 100;
/// A file with a NUL byte this early is binary, as git decides it.
const BINARY_PROBE_BYTES: usize = 8_000;

/// What to look for, and how much of it.
pub(crate) struct SearchRequest<'a> {
    pub(crate) path: &'a WorkspacePath,
    pub(crate) query: &'a str,
    pub(crate) limit: usize,
}

/// Searches a file, or a folder and everything below it.
pub(crate) fn search(
    root: &Root,
    request: &SearchRequest<'_>,
    limits: &FolderLimits,
    gate: &Gate,
) -> Result<Vec<String>, PortFailure> {
    if request.query.is_empty() || request.query.contains(['\n', '\0']) {
        return Err(failure::invalid("BAD_QUERY", "query must be one line of text, not empty"));
    }
    let finder = Finder::new(request.query);
    let mut search = Search { root, finder, limits, gate, limit: request.limit, lines: Vec::new() };
    match root.find(request.path, Access::Read)? {
        Place::Missing { .. } => return Err(failure::not_found()),
        Place::Entry { parent, name, .. } => {
            search.file(parent.dir(root), &name, &parent.path_of(&name));
        }
        Place::Folder(folder) => {
            let mut rules = IgnoreRules::of(root, &folder);
            search.folder(folder.dir(root), &folder.path(), &mut rules, 0);
        }
    }
    Ok(search.lines)
}

struct Search<'a> {
    root: &'a Root,
    finder: Finder<'a>,
    limits: &'a FolderLimits,
    gate: &'a Gate,
    limit: usize,
    lines: Vec<String>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.lines.len() >= self.limit || self.gate.is_closed()
    }

    fn skip(&mut self, path: &str, reason: &str) {
        let path = if path.is_empty() { "." } else { path };
        if !self.is_over() {
            self.lines.push(format!("{path}: skipped ({reason})"));
        }
    }

    fn folder(&mut self, dir: &Dir, path: &str, rules: &mut IgnoreRules, depth: usize) {
        let entries = match entries::shown_entries(dir, rules, self.limits.folder_entries) {
            Ok(entries) => sorted(entries),
            Err(Unlisted::TooMany) => return self.skip(path, "too many entries"),
            Err(Unlisted::Failed(_)) => return self.skip(path, "unreadable folder"),
        };
        for entry in entries {
            if self.is_over() {
                return;
            }
            self.entry(dir, &joined(path, &entry.name), &entry, (rules, depth));
        }
    }

    fn entry(
        &mut self,
        dir: &Dir,
        path: &str,
        entry: &Entry,
        (rules, depth): (&mut IgnoreRules, usize),
    ) {
        if protected::is_protected(&entry.name, Access::Read) {
            return self.skip(path, "protected");
        }
        match entry.kind {
            EntryKind::File(_) => self.file(dir, &entry.name, path),
            EntryKind::Link => self.skip(path, "link"),
            EntryKind::Other => self.skip(path, "not a regular file"),
            EntryKind::Folder if depth >= MAX_DEPTH => self.skip(path, "too deep"),
            EntryKind::Folder => match dir.open_dir_nofollow(&entry.name) {
                Err(_) => self.skip(path, "unreadable folder"),
                Ok(below) if self.root.keeps_out(&below).unwrap_or(true) => {
                    self.skip(path, "protected");
                }
                Ok(below) => {
                    rules.enter(self.root, Path::new(&entry.name), &below);
                    self.folder(&below, path, rules, depth + 1);
                    rules.leave();
                }
            },
        }
    }

    fn file(&mut self, dir: &Dir, name: &std::ffi::OsStr, path: &str) {
        match file::read_entry(self.root, dir, name, self.limits.file_bytes) {
            Ok(bytes) if is_binary(&bytes) => self.skip(path, "binary file"),
            Ok(bytes) => self.text(&bytes, path),
            Err(Unread::NotRegular) => self.skip(path, "not a regular file"),
            Err(Unread::TooLarge(_)) => self.skip(path, "too large"),
            Err(Unread::ForeignLink) => self.skip(path, "protected"),
            Err(Unread::Failed(_)) => self.skip(path, "unreadable"),
        }
    }

    /// Jumps from hit to hit, counting the lines between.
    fn text(&mut self, bytes: &[u8], path: &str) {
        let (mut start, mut number) = (0, 1);
        while let Some(found) = self.finder.find(&bytes[start..]).map(|at| start + at) {
            if self.is_over() {
                return;
            }
            number += memchr::memchr_iter(b'\n', &bytes[start..found]).count();
            let begin = memchr::memrchr(b'\n', &bytes[..found]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &bytes[found..]).map_or(bytes.len(), |at| found + at);
            let text = cut(&bytes[begin..end], self.limits.line_bytes);
            self.lines.push(format!("{path}:{number}:{text}"));
            number += 1;
            start = end + 1;
            if start > bytes.len() {
                return;
            }
        }
    }
}

/// In the order of the paths below them: a folder sorts as its name with the separator.
fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    let key = |entry: &Entry| -> OsString {
        let mut key = OsString::from(crate::path::shown(&entry.name.to_string_lossy()));
        if entry.kind == EntryKind::Folder {
            key.push("/");
        }
        key
    };
    entries.sort_by_cached_key(key);
    entries
}

fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(BINARY_PROBE_BYTES)]).is_some()
}

fn cut(line: &[u8], max_bytes: usize) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= max_bytes {
        return String::from_utf8_lossy(line).into_owned();
    }
    let text = String::from_utf8_lossy(&line[..max_bytes]);
    format!("{}…", text.trim_end_matches('\u{fffd}'))
}
