//! Decides which words of a task are names of files and folders, and which are quoted.
//!
//! Knows nothing about what the task wants. Invariant: paths and quotes keep their case; words are
//! lowercase.

use crate::vocabulary::is_vocabulary;

/// A task cut into what the rules look at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wording {
    /// Words without punctuation, as they were written; empty where a quoted text stood.
    raw: Vec<String>,
    /// The same in lowercase.
    pub(crate) words: Vec<String>,
    /// Quoted texts that name no file and no folder, in order.
    pub(crate) quotes: Vec<String>,
    /// What names a file, in order, with the position of the word.
    files: Vec<(usize, String)>,
    /// The folder that is named, if any.
    pub(crate) folder: Option<String>,
    /// The ending that files shall have, with its dot: `every .md file`.
    pub(crate) ending: Option<String>,
}

/// A word, or a quoted text.
struct Token {
    text: String,
    is_quoted: bool,
}

const QUOTES: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»')];
const PLACES: [&str; 6] = ["in", "of", "below", "under", "inside", "folder"];
/// After these a quoted text is what is searched for or written, whatever it looks like.
const OBJECTS: [&str; 12] = [
    "for", "search", "find", "grep", "write", "save", "put", "store", "mention", "mentions",
    "contain", "contains",
];
const NO_FOLDER_NAMES: [&str; 30] = [
    "the",
    "this",
    "a",
    "my",
    "current",
    "every",
    "each",
    "whole",
    "of",
    "in",
    "and",
    "to",
    "that",
    "entire",
    "it",
    "them",
    "here",
    "there",
    "all",
    "total",
    "everything",
    "english",
    "short",
    "brief",
    "detail",
    "order",
    "markdown",
    "which",
    "text",
    "project",
];

impl Wording {
    pub(crate) fn of(text: &str) -> Self {
        let mut wording = Self::default();
        for token in tokens(text) {
            wording.take(token);
        }
        wording.folder = wording.folder.take().or_else(|| wording.named_folder());
        wording
    }

    fn take(&mut self, token: Token) {
        let position = self.words.len();
        if token.is_quoted {
            self.take_quote(position, token.text);
            self.raw.push(String::new());
            self.words.push(String::new());
            return;
        }
        let word = trim_punctuation(&token.text);
        match ending_of(word) {
            Some(ending) => self.ending = Some(ending.to_owned()),
            None if looks_like_file(word) => self.files.push((position, word.to_owned())),
            None => {}
        }
        self.raw.push(word.to_owned());
        self.words.push(word.to_lowercase());
    }

    fn take_quote(&mut self, position: usize, text: String) {
        let before = self.words.last().map_or("", String::as_str);
        if OBJECTS.contains(&before) {
            self.quotes.push(text);
        } else if has_file_ending(&text) {
            self.files.push((position, text));
        } else if PLACES.contains(&before) {
            self.folder = Some(text.trim_end_matches('/').to_owned());
        } else {
            self.quotes.push(text);
        }
    }

    /// Whether any of these words occurs.
    pub(crate) fn has(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&word.as_str()))
    }

    /// The first word after `position` that is none of `skipped`, as it was written.
    pub(crate) fn word_after(&self, position: usize, skipped: &[&str]) -> Option<&str> {
        let rest = self.words.iter().zip(&self.raw).skip(position + 1);
        let mut carrying = rest.filter(|(word, _)| !skipped.contains(&word.as_str()));
        carrying.next().map(|(_, raw)| raw.as_str()).filter(|raw| !raw.is_empty())
    }

    /// The file that the result shall be written to: the last one that follows `to` or `into`, or
    /// `in` or `as` in a task that says to write.
    pub(crate) fn target(&self) -> Option<&str> {
        let says_write = self.has(&["write", "save", "put", "store", "writing", "saving"]);
        let prepositions: &[&str] =
            if says_write { &["to", "into", "in", "as"] } else { &["to", "into"] };
        let follows = |position: usize| {
            let before = position.checked_sub(1).and_then(|at| self.words.get(at));
            before.is_some_and(|word| prepositions.contains(&word.as_str()))
        };
        self.files.iter().rev().find(|(at, _)| follows(*at)).map(|(_, file)| file.as_str())
    }

    /// The files that are named beside the target.
    pub(crate) fn sources(&self) -> Vec<String> {
        let target = self.target();
        let names = self.files.iter().map(|(_, file)| file);
        names.filter(|file| Some(file.as_str()) != target).cloned().collect()
    }

    /// `docs/`, `the docs folder`, `the folder docs`, `in docs`, `list the docs`.
    fn named_folder(&self) -> Option<String> {
        let slashed = self.raw.iter().find(|word| word.len() > 1 && word.ends_with('/'));
        if let Some(word) = slashed {
            return Some(word.trim_end_matches('/').to_owned());
        }
        let beside = self.words.iter().position(|word| is_folder_word(word)).and_then(|at| {
            let before = at.checked_sub(1).and_then(|before| self.raw.get(before));
            let after = self.raw.get(at + 1).filter(|_| self.words[at] != "folders");
            [before, after].into_iter().flatten().find(|word| may_name_folder(word))
        });
        beside.or_else(|| self.folder_after_a_place()).cloned()
    }

    fn folder_after_a_place(&self) -> Option<&String> {
        let articles = ["the", "my", "all"];
        let names_place = |word: &String| PLACES.contains(&word.as_str()) || word == "list";
        let places = self.words.iter().enumerate().filter(|(_, word)| names_place(word));
        let mut after = places.filter_map(|(at, _)| {
            let mut rest = self.words.iter().enumerate().skip(at + 1);
            let next = rest.find(|(_, word)| !articles.contains(&word.as_str()))?;
            self.raw.get(next.0)
        });
        after.find(|word| may_name_folder(word))
    }
}

/// Words and quoted texts, in order. An apostrophe within a word opens nothing.
fn tokens(text: &str) -> Vec<Token> {
    let (mut tokens, mut word, mut rest) = (Vec::new(), String::new(), text);
    while let Some(at) = rest.chars().next() {
        let after = &rest[at.len_utf8()..];
        let closing = QUOTES.iter().find(|(open, _)| *open == at && word.is_empty());
        let end = closing.and_then(|(_, close)| after.find(*close).map(|end| (end, close)));
        if let Some((end, close)) = end {
            tokens.push(Token { text: after[..end].to_owned(), is_quoted: true });
            rest = &after[end + close.len_utf8()..];
            continue;
        }
        if at.is_whitespace() {
            push_word(&mut tokens, &mut word);
        } else {
            word.push(at);
        }
        rest = after;
    }
    push_word(&mut tokens, &mut word);
    tokens
}

fn push_word(tokens: &mut Vec<Token>, word: &mut String) {
    if !word.is_empty() {
        tokens.push(Token { text: std::mem::take(word), is_quoted: false });
    }
}

fn trim_punctuation(word: &str) -> &str {
    let word = word.trim_start_matches(['(', '[', ',', ':', ';', '!', '?']);
    word.trim_end_matches(['.', ',', ':', ';', '!', '?', ')', ']'])
}

/// `.md` or `*.md`: an ending, no file.
fn ending_of(word: &str) -> Option<&str> {
    let ending = word.strip_prefix('*').unwrap_or(word);
    let letters = ending.strip_prefix('.')?;
    let is_short = (1..=4).contains(&letters.len()) && letters != "env";
    (is_short && letters.chars().all(char::is_alphanumeric)).then_some(ending)
}

/// A name with an extension, like `plan.txt` or `notes/plan.txt`, or a dotfile.
fn looks_like_file(word: &str) -> bool {
    let spelled = |text: &str| text.chars().all(|at| at.is_alphanumeric() || "._-/".contains(at));
    spelled(word)
        && has_file_ending(word)
        && !["e.g", "i.e", "etc"].contains(&word.to_lowercase().as_str())
}

fn has_file_ending(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let Some((_, ending)) = name.rsplit_once('.') else { return false };
    (1..=10).contains(&ending.len())
        && ending.chars().all(char::is_alphanumeric)
        && ending.chars().any(char::is_alphabetic)
}

fn is_folder_word(word: &str) -> bool {
    ["folder", "directory", "dir", "folders"].contains(&word.to_lowercase().as_str())
}

fn may_name_folder(word: &str) -> bool {
    let lower = word.to_lowercase();
    let is_plain = word.chars().all(|at| at.is_alphanumeric() || "_-/".contains(at));
    is_plain
        && !word.is_empty()
        && !NO_FOLDER_NAMES.contains(&lower.as_str())
        && !is_vocabulary(&lower)
}
