//! Decides what is remembered of what was typed, also by the next call of the command.
//!
//! Knows a file, by `rustyline`, which keeps it for the user alone and shares it between processes.
//! Refuses to fail: a file that cannot be kept means that less is remembered.

use std::path::PathBuf;

use rustyline::{
    Config,
    history::{FileHistory, History, SearchDirection},
};

use crate::places;

/// How many entries are remembered.
const KEPT: usize = 1_000;

/// What was typed, oldest first.
pub(super) struct Past {
    entries: FileHistory,
    file: Option<PathBuf>,
}

impl Past {
    /// With what the file holds, if there is one; new entries are added to it.
    pub(super) fn kept_in(file: Option<PathBuf>) -> Self {
        let config = Config::builder().history_ignore_space(true).max_history_size(KEPT);
        let config = config.map(rustyline::config::Builder::build).unwrap_or_default();
        let mut entries = FileHistory::with_config(&config);
        if let Some(file) = &file {
            // A missing file is an empty one.
            let _ = entries.load(file);
        }
        Self { entries, file }
    }

    /// Text that begins with a space is not remembered.
    pub(super) fn add(&mut self, text: &str) {
        if self.entries.add(text).unwrap_or(false)
            && let Some(file) = &self.file
        {
            let _ = file.parent().map(places::make);
            let _ = self.entries.append(file);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The newest entry before this one that contains `term`.
    pub(super) fn before(&self, entry: usize, term: &str) -> Option<(usize, String)> {
        let from = entry.checked_sub(1)?;
        match term {
            "" => self.entry(from),
            term => {
                let found = self.entries.search(term, from, SearchDirection::Reverse);
                found.ok()?.map(|found| (found.idx, found.entry.into_owned()))
            }
        }
    }

    /// The entry after this one.
    pub(super) fn after(&self, entry: usize) -> Option<(usize, String)> {
        self.entry(entry + 1).filter(|_| entry + 1 < self.len())
    }

    fn entry(&self, entry: usize) -> Option<(usize, String)> {
        let found = self.entries.get(entry, SearchDirection::Forward).ok()??;
        Some((found.idx, found.entry.into_owned()))
    }
}
