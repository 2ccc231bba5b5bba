//! Decides what a task asks for.
//!
//! Knows a handful of verbs and nothing about how the work is done. Invariant: what matches no
//! rule is [`Task::Unknown`]; nothing is guessed.

use crate::{
    vocabulary::{COUNT, LIST, READ, SEARCH, SUMMARISE},
    wording::Wording,
};

/// What shall be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Lines,
    Words,
    Bytes,
    Files,
}

/// What shall be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every file below this folder (empty is the root), of this ending if there is one.
    Folder { path: String, ending: Option<String> },
    /// These files.
    Files(Vec<String>),
}

/// A task that the rules understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    List { folder: String, target: Option<String> },
    Read { files: Vec<String> },
    Search { query: String, folder: String, target: Option<String> },
    Count { unit: Unit, scope: Scope, target: Option<String> },
    Summarise { scope: Scope, target: Option<String> },
    Write { path: String, content: String },
    Unknown,
}

impl Task {
    /// Reads a task. The first rule that matches wins.
    pub(crate) fn of(text: &str) -> Self {
        let wording = Wording::of(text);
        let target = wording.target().map(str::to_owned);
        let folder = wording.folder.clone().unwrap_or_default();
        // Two tasks in one: half of it would be a guess.
        if wording.has(COUNT) && wording.has(SUMMARISE) {
            return Self::Unknown;
        }
        let rules = [
            write_text(&wording, target.as_deref()),
            search(&wording, &folder, target.as_ref()),
            count(&wording, &folder, target.as_ref()),
            summarise(&wording, &folder, target.as_ref()),
            read(&wording),
            list(&wording, folder, target),
        ];
        rules.into_iter().flatten().next().unwrap_or(Self::Unknown)
    }
}

fn write_text(wording: &Wording, target: Option<&str>) -> Option<Task> {
    let content = wording.quotes.first()?.clone();
    let asks_more = wording.has(SEARCH) || wording.has(COUNT) || wording.has(SUMMARISE);
    let path = target.filter(|_| !asks_more)?.to_owned();
    Some(Task::Write { path, content })
}

fn search(wording: &Wording, folder: &str, target: Option<&String>) -> Option<Task> {
    let verb = wording.words.iter().position(|word| SEARCH.contains(&word.as_str()))?;
    let query = wording.quotes.first().cloned().or_else(|| word_after(wording, verb))?;
    Some(Task::Search { query, folder: folder.to_owned(), target: target.cloned() })
}

/// The first word after the verb that carries meaning: `search the notes for milk` is about milk.
fn word_after(wording: &Wording, verb: usize) -> Option<String> {
    let rest = wording.words.iter().skip(verb + 1);
    let from = rest.into_iter().position(|word| word == "for").map_or(verb, |at| verb + 1 + at);
    let skipped =
        ["the", "a", "word", "text", "lines", "line", "any", "all", "every", "with", "of"];
    wording.word_after(from, &skipped).map(str::to_owned)
}

fn count(wording: &Wording, folder: &str, target: Option<&String>) -> Option<Task> {
    if !wording.has(COUNT) {
        return None;
    }
    let unit = unit_of(wording)?;
    Some(Task::Count { unit, scope: scope_of(wording, folder), target: target.cloned() })
}

fn unit_of(wording: &Wording) -> Option<Unit> {
    let units: [(&[&str], Unit); 4] = [
        (&["line", "lines"], Unit::Lines),
        (&["word", "words"], Unit::Words),
        (&["byte", "bytes", "size", "sizes"], Unit::Bytes),
        (&["file", "files"], Unit::Files),
    ];
    units.into_iter().find(|(names, _)| wording.has(names)).map(|(_, unit)| unit)
}

fn scope_of(wording: &Wording, folder: &str) -> Scope {
    match wording.sources() {
        sources if sources.is_empty() => {
            Scope::Folder { path: folder.to_owned(), ending: wording.ending.clone() }
        }
        sources => Scope::Files(sources),
    }
}

fn summarise(wording: &Wording, folder: &str, target: Option<&String>) -> Option<Task> {
    let scope = wording.has(SUMMARISE).then(|| scope_of(wording, folder))?;
    Some(Task::Summarise { scope, target: target.cloned() })
}

fn read(wording: &Wording) -> Option<Task> {
    let files = wording.sources();
    (wording.has(READ) && !files.is_empty()).then_some(Task::Read { files })
}

fn list(wording: &Wording, folder: String, target: Option<String>) -> Option<Task> {
    (wording.has(LIST) || wording.folder.is_some()).then_some(Task::List { folder, target })
}
