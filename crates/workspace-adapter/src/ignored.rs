//! Decides which entries `.gitignore` files leave out.
//!
//! Knows the `.gitignore` files from the root down to a folder, and no other source: no file above
//! the root, no global configuration. Invariant: the innermost file with an opinion decides.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::{
    file,
    place::{Folder, Root},
};

const MAX_RULE_BYTES: u64 = 1 << 20;
const RULES: &str = ".gitignore";

/// The rules that hold in one folder, outermost first.
#[derive(Default)]
pub(crate) struct IgnoreRules {
    levels: Vec<Level>,
}

struct Level {
    rules: Gitignore,
    /// From the folder of the rules to the folder that is looked at.
    below: PathBuf,
}

impl IgnoreRules {
    /// The rules of a folder that was walked to.
    pub(crate) fn of(root: &Root, folder: &Folder) -> Self {
        let mut rules = Self::default();
        rules.add(root, &root.folder);
        for (name, dir) in folder.trail() {
            rules.enter(root, Path::new(name), dir);
        }
        rules
    }

    /// Goes down into a folder.
    pub(crate) fn enter(&mut self, root: &Root, name: &Path, dir: &Dir) {
        self.levels.iter_mut().for_each(|level| level.below.push(name));
        self.add(root, dir);
    }

    /// Goes up again.
    pub(crate) fn leave(&mut self) {
        self.levels.pop();
        for level in &mut self.levels {
            level.below.pop();
        }
    }

    /// Whether an entry of the folder is left out.
    pub(crate) fn ignores(&self, name: &Path, is_dir: bool) -> bool {
        let verdict = |level: &Level| match level.rules.matched(level.below.join(name), is_dir) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        self.levels.iter().rev().find_map(verdict).unwrap_or(false)
    }

    fn add(&mut self, root: &Root, dir: &Dir) {
        let text = file::read_entry(root, dir, RULES.as_ref(), MAX_RULE_BYTES).unwrap_or_default();
        self.levels.push(Level { rules: parsed(&text), below: PathBuf::new() });
    }
}

/// Lines that are no pattern are skipped, as git does.
fn parsed(text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    let text = String::from_utf8_lossy(text);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
