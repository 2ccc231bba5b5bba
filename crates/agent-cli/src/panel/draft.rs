//! Decides what a key does to a text that is being typed.
//!
//! Knows characters as people see them, words and lines, by `rustyline`. Refuses to know keys and
//! screens. Invariant: nothing that was typed is lost by looking at what was typed before.

use rustyline::{
    At, Word,
    line_buffer::{ChangeListener, DeleteListener, Direction, LineBuffer},
};

use super::past::Past;

/// Longest text that is taken, in bytes.
const LONGEST: usize = 256 << 10;

/// A text that is being typed.
#[derive(Debug)]
pub(super) struct Draft {
    line: LineBuffer,
    looking: Option<Looking>,
}

/// What is looked for in what was typed before.
#[derive(Debug)]
struct Looking {
    /// The entry that is shown.
    entry: usize,
    /// What was typed before looking.
    typed: String,
}

/// What a key does to a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edit {
    Insert(String),
    Backspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    /// To the line above, or to what was typed before.
    Up,
    /// To the line below, or to what was typed later.
    Down,
    /// To what was typed before and contains what is typed.
    Find,
    KillToEnd,
    KillToStart,
    KillWord,
    KillNextWord,
    Yank,
    Swap,
}

impl Draft {
    pub(super) fn new(text: &str) -> Self {
        let mut draft = Self { line: LineBuffer::with_capacity(LONGEST), looking: None };
        draft.set(text);
        draft
    }

    pub(super) fn text(&self) -> &str {
        self.line.as_str()
    }

    /// The byte before which the cursor stands.
    pub(super) fn cursor(&self) -> usize {
        self.line.pos()
    }

    /// Whether the key before the end of the line asks for one more line: a backslash, which no
    /// other escapes. Takes it away.
    pub(super) fn wants_another_line(&mut self) -> bool {
        let slashes = self.text().len() - self.text().trim_end_matches('\\').len();
        let wants = slashes % 2 == 1 && self.line.is_cursor_at_end();
        if wants {
            self.line.backspace(1, &mut Nothing);
        }
        wants
    }

    /// What is cut away is kept in `killed`.
    pub(super) fn edit(&mut self, edit: Edit, past: &Past, killed: &mut String) {
        let looked = match edit {
            Edit::Up => self.move_up() || self.earlier(past, ""),
            Edit::Down => self.move_down() || self.later(past),
            Edit::Find => {
                let term = self.looking.as_ref().map_or(self.text(), |looking| &looking.typed);
                let term = term.to_owned();
                self.earlier(past, &term)
            }
            _ => false,
        };
        if !looked && !matches!(edit, Edit::Up | Edit::Down | Edit::Find) {
            self.looking = None;
        }
        match edit {
            Edit::Insert(text) => self.insert(&text),
            Edit::Yank => self.insert(&killed.clone()),
            Edit::KillToEnd | Edit::KillToStart | Edit::KillWord | Edit::KillNextWord => {
                self.kill(&edit, killed);
            }
            Edit::Swap => drop(self.line.transpose_chars(&mut Nothing)),
            Edit::Backspace => drop(self.line.backspace(1, &mut Nothing)),
            Edit::Delete => drop(self.line.delete(1, &mut Nothing)),
            Edit::Up | Edit::Down | Edit::Find => {}
            _ => self.go(&edit),
        }
    }

    fn go(&mut self, edit: &Edit) {
        match edit {
            Edit::Left => self.line.move_backward(1),
            Edit::Right => self.line.move_forward(1),
            Edit::WordLeft => self.line.move_to_prev_word(Word::Emacs, 1),
            Edit::WordRight => self.line.move_to_next_word(At::AfterEnd, Word::Emacs, 1),
            Edit::LineStart => self.line.move_home(),
            _ => self.line.move_end(),
        };
    }

    fn insert(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.line.len());
        let fits = text.floor_char_boundary(room);
        self.line.yank(&text[..fits], 1, &mut Nothing);
    }

    fn kill(&mut self, edit: &Edit, killed: &mut String) {
        let mut cut = Cut(String::new());
        match edit {
            Edit::KillToEnd => self.line.kill_line(&mut cut),
            Edit::KillToStart => self.line.discard_line(&mut cut),
            Edit::KillWord => self.line.delete_prev_word(Word::Big, 1, &mut cut),
            _ => self.line.delete_word(At::AfterEnd, Word::Emacs, 1, &mut cut),
        };
        if !cut.0.is_empty() {
            *killed = cut.0;
        }
    }

    fn move_up(&mut self) -> bool {
        let (before, column) = self.line_before_cursor();
        let Some(above) = before.strip_suffix('\n') else { return false };
        let start = above.rfind('\n').map_or(0, |at| at + 1);
        let place = start + nth(&above[start..], column);
        self.line.set_pos(place);
        true
    }

    fn move_down(&mut self) -> bool {
        let (_, column) = self.line_before_cursor();
        let cursor = self.cursor();
        let Some(break_at) = self.text()[cursor..].find('\n') else { return false };
        let start = cursor + break_at + 1;
        let below = self.text()[start..].split('\n').next().unwrap_or_default();
        let place = start + nth(below, column);
        self.line.set_pos(place);
        true
    }

    /// The text before the line of the cursor, and how many characters are before the cursor in it.
    fn line_before_cursor(&self) -> (&str, usize) {
        let before = &self.text()[..self.cursor()];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (&before[..start], before[start..].chars().count())
    }

    fn earlier(&mut self, past: &Past, term: &str) -> bool {
        let from = self.looking.as_ref().map_or(past.len(), |looking| looking.entry);
        let Some((entry, found)) = past.before(from, term) else { return false };
        let typed = self.text().to_owned();
        self.looking.get_or_insert(Looking { entry, typed }).entry = entry;
        self.set(&found);
        true
    }

    fn later(&mut self, past: &Past) -> bool {
        let Some(looking) = &mut self.looking else { return false };
        match past.after(looking.entry) {
            Some((entry, found)) => {
                looking.entry = entry;
                self.set(&found);
            }
            None => {
                let typed = std::mem::take(&mut looking.typed);
                self.looking = None;
                self.set(&typed);
            }
        }
        true
    }

    fn set(&mut self, text: &str) {
        let fits = &text[..text.floor_char_boundary(LONGEST)];
        self.line.update(fits, fits.len(), &mut Nothing);
    }
}

/// The byte of the `count`th character, or the end.
fn nth(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// What was cut away.
struct Cut(String);

impl DeleteListener for Cut {
    fn delete(&mut self, _: usize, text: &str, _: Direction) {
        self.0.push_str(text);
    }
}

/// Nobody wants to know what changed.
struct Nothing;

impl DeleteListener for Nothing {
    fn delete(&mut self, _: usize, _: &str, _: Direction) {}
}

impl ChangeListener for Nothing {
    fn insert_char(&mut self, _: usize, _: char) {}
    fn insert_str(&mut self, _: usize, _: &str) {}
    fn replace(&mut self, _: usize, _: &str, _: &str) {}
}

#[cfg(test)]
mod tests;
