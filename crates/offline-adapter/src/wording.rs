//! Decides which words of a task are names of files and folders, and which are quoted.
//!
//! Knows nothing about what the task wants. Invariant: paths and quotes keep their case; words are
//! lowercase.

use crate::vocabulary::is_vocabulary;

/// A task cut into what the rules look at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wording {
    /// Lowercase words without punctuation, in order; quoted text left out.
    pub(crate) words: Vec<String>,
    /// Quoted texts, in order.
    pub(crate) quotes: Vec<String>,
    /// Words that look like a file, in order, with the position of the word.
    pub(crate) files: Vec<(usize, String)>,
    /// The folder that is named, if any.
    pub(crate) folder: Option<String>,
}

const QUOTES: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»')];
const NO_FOLDER_NAMES: [&str; 14] = [
    "the", "this", "a", "my", "current", "every", "each", "whole", "of", "in", "and", "to", "that",
    "entire",
];

impl Wording {
    pub(crate) fn of(text: &str) -> Self {
        let (plain, quotes) = take_quotes(text);
        let mut wording = Self { quotes, ..Self::default() };
        let raw: Vec<&str> = plain.split_whitespace().map(trim_punctuation).collect();
        for (position, word) in raw.iter().enumerate() {
            if looks_like_file(word) {
                wording.files.push((position, (*word).to_owned()));
            }
            wording.words.push(word.to_lowercase());
        }
        wording.folder = named_folder(&raw);
        wording.adopt_quoted_files();
        wording
    }

    /// Whether any of these words occurs.
    pub(crate) fn has(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&word.as_str()))
    }

    /// The file that the result shall be written to: the last one that follows `to`, `into`, `in`
    /// or `as`, in a task that says to write.
    pub(crate) fn target(&self) -> Option<&str> {
        if !self.has(&["write", "save", "put", "store", "writing", "saving"]) {
            return None;
        }
        let follows = |position: usize| {
            let before = position.checked_sub(1).and_then(|at| self.words.get(at));
            before.is_some_and(|word| ["to", "into", "in", "as"].contains(&word.as_str()))
        };
        self.files.iter().rev().find(|(at, _)| follows(*at)).map(|(_, file)| file.as_str())
    }

    /// The files that are named beside the target.
    pub(crate) fn sources(&self) -> Vec<String> {
        let target = self.target();
        let names = self.files.iter().map(|(_, file)| file);
        names.filter(|file| Some(file.as_str()) != target).cloned().collect()
    }

    /// A quoted text that is nothing but a file name is one: `read "plan.txt"`.
    fn adopt_quoted_files(&mut self) {
        if !self.files.is_empty() || self.has(&["search", "find", "grep", "mention", "contain"]) {
            return;
        }
        let position = self.words.len();
        let quoted = self.quotes.iter().filter(|quote| looks_like_file(quote));
        self.files.extend(quoted.map(|quote| (position, quote.clone())));
    }
}

/// Replaces each quoted text by nothing and returns it separately. An apostrophe within a word
/// opens nothing.
fn take_quotes(text: &str) -> (String, Vec<String>) {
    let (mut plain, mut quotes, mut rest) = (String::new(), Vec::new(), text);
    while let Some(opening) = rest.chars().next() {
        let after = &rest[opening.len_utf8()..];
        let inside_word = plain.ends_with(char::is_alphanumeric);
        let closing = QUOTES.iter().find(|(open, _)| *open == opening && !inside_word);
        let end = closing.and_then(|(_, close)| after.find(*close).map(|at| (at, close)));
        match end {
            Some((at, close)) => {
                quotes.push(after[..at].to_owned());
                plain.push(' ');
                rest = &after[at + close.len_utf8()..];
            }
            None => {
                plain.push(opening);
                rest = after;
            }
        }
    }
    (plain, quotes)
}

fn trim_punctuation(word: &str) -> &str {
    let word = word.trim_start_matches(['(', '[', ',', ':', ';', '!', '?']);
    word.trim_end_matches(['.', ',', ':', ';', '!', '?', ')', ']'])
}

/// A name with an extension, like `plan.txt` or `notes/plan.txt`, or a dotfile.
fn looks_like_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let Some((_, extension)) = name.rsplit_once('.') else { return false };
    let spelled = |text: &str| text.chars().all(|at| at.is_alphanumeric() || "._-/".contains(at));
    (1..=10).contains(&extension.len())
        && spelled(word)
        && extension.chars().any(char::is_alphabetic)
        && !["e.g", "i.e", "etc"].contains(&word.to_lowercase().as_str())
}

/// `docs/`, `the docs folder`, `the folder docs`.
fn named_folder(raw: &[&str]) -> Option<String> {
    let slashed = raw.iter().find(|word| word.len() > 1 && word.ends_with('/'));
    if let Some(word) = slashed {
        return Some(word.trim_end_matches('/').to_owned());
    }
    let at = raw.iter().position(|word| is_folder_word(word))?;
    let before = at.checked_sub(1).and_then(|before| raw.get(before));
    let after = raw.get(at + 1).filter(|_| raw[at].to_lowercase() != "folders");
    [before, after]
        .into_iter()
        .flatten()
        .find(|word| may_name_folder(word))
        .map(|word| (*word).to_owned())
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
