//! Decides what each key means while a text is typed: the keys that shells have.
//!
//! Knows key events as `crossterm` reads them. Refuses to know what is typed.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::draft::Edit;

/// What a key asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    Edit(Edit),
    /// The text is done, unless it says that another line follows.
    Enter,
    /// Completes the name of a command.
    Complete,
    /// Stops what is at work, or takes back what is typed.
    Stop,
    /// Leaves when nothing is typed, else removes the next character.
    Leave,
    /// Clears the screen.
    Clear,
    /// Puts the whole command into the background.
    Suspend,
    /// The terminal has another size.
    Resized,
    Nothing,
}

/// What an event of the terminal means.
pub(super) fn meaning(event: Event) -> Meaning {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => of_key(key),
        // Terminals paste line ends as they send the key.
        Event::Paste(text) => insert(&text.replace("\r\n", "\n").replace('\r', "\n")),
        Event::Resize(..) => Meaning::Resized,
        _ => Meaning::Nothing,
    }
}

fn insert(text: &str) -> Meaning {
    Meaning::Edit(Edit::Insert(text.to_owned()))
}

fn of_key(key: KeyEvent) -> Meaning {
    let has = |modifier| key.modifiers.contains(modifier);
    match key.code {
        KeyCode::Enter if has(KeyModifiers::ALT) || has(KeyModifiers::SHIFT) => insert("\n"),
        KeyCode::Enter => Meaning::Enter,
        KeyCode::Tab => Meaning::Complete,
        KeyCode::Char(at) if has(KeyModifiers::CONTROL) => with_control(at),
        KeyCode::Char(at) if has(KeyModifiers::ALT) => with_alt(at),
        KeyCode::Char(at) => insert(at.encode_utf8(&mut [0; 4])),
        KeyCode::Left | KeyCode::Right if has(KeyModifiers::CONTROL) || has(KeyModifiers::ALT) => {
            Meaning::Edit(if key.code == KeyCode::Left { Edit::WordLeft } else { Edit::WordRight })
        }
        KeyCode::Backspace if has(KeyModifiers::ALT) => Meaning::Edit(Edit::KillWord),
        code => plain(code).map_or(Meaning::Nothing, Meaning::Edit),
    }
}

const fn plain(code: KeyCode) -> Option<Edit> {
    Some(match code {
        KeyCode::Backspace => Edit::Backspace,
        KeyCode::Delete => Edit::Delete,
        KeyCode::Left => Edit::Left,
        KeyCode::Right => Edit::Right,
        KeyCode::Up => Edit::Up,
        KeyCode::Down => Edit::Down,
        KeyCode::Home => Edit::LineStart,
        KeyCode::End => Edit::LineEnd,
        _ => return None,
    })
}

fn with_control(at: char) -> Meaning {
    Meaning::Edit(match at.to_ascii_lowercase() {
        'a' => Edit::LineStart,
        'b' => Edit::Left,
        'e' => Edit::LineEnd,
        'f' => Edit::Right,
        'h' => Edit::Backspace,
        'k' => Edit::KillToEnd,
        'n' => Edit::Down,
        'p' => Edit::Up,
        'r' => Edit::Find,
        't' => Edit::Swap,
        'u' => Edit::KillToStart,
        'w' => Edit::KillWord,
        'y' => Edit::Yank,
        'j' => return insert("\n"),
        'c' => return Meaning::Stop,
        'd' => return Meaning::Leave,
        'l' => return Meaning::Clear,
        'z' => return Meaning::Suspend,
        _ => return Meaning::Nothing,
    })
}

fn with_alt(at: char) -> Meaning {
    Meaning::Edit(match at.to_ascii_lowercase() {
        'b' => Edit::WordLeft,
        'f' => Edit::WordRight,
        'd' => Edit::KillNextWord,
        _ => return Meaning::Nothing,
    })
}

#[cfg(test)]
mod tests;
