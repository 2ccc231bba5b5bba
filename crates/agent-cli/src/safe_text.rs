//! Decides what text may reach a terminal.
//!
//! Knows which characters steer terminals or hide text. Refuses to know where the text came from:
//! model output, file names, tool results and errors all go through here. Invariant: the result
//! has no control character but line feed and tab, and nothing that reorders text.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const REPLACEMENT: char = '\u{fffd}';

/// Replaces what could steer a terminal: control characters (C0, C1, DEL), and the invisible
/// characters that reorder or hide text. Carriage return before a line feed is dropped.
pub(crate) fn safe_text(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut stream = SafeStream::default();
    let mut safe = stream.push(text);
    safe.push_str(stream.end());
    Cow::Owned(safe)
}

/// One line of at most `limit` characters, for progress.
pub(crate) fn safe_line(text: &str, limit: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let safe = safe_text(&one_line);
    match safe.char_indices().nth(limit) {
        None => safe.into_owned(),
        Some((cut, _)) => format!("{}…", &safe[..cut]),
    }
}

/// One line of at most so many columns of a terminal.
pub(crate) fn safe_columns(text: &str, columns: usize) -> String {
    let line = safe_line(text, usize::MAX);
    if line.width() <= columns {
        return line;
    }
    let mut cut = String::new();
    for grapheme in line.graphemes(true) {
        if cut.width() + grapheme.width() >= columns {
            break;
        }
        cut.push_str(grapheme);
    }
    cut + "…"
}

/// The text with everything harmful spelt out, like `\u{1b}`: for questions, where nothing may be
/// lost.
pub(crate) fn spelt_out(text: &str) -> String {
    let mut spelt = String::with_capacity(text.len());
    for at in text.chars() {
        if is_plain(at) { spelt.push(at) } else { spelt.extend(at.escape_unicode()) }
    }
    spelt
}

/// JSON that says the same, with what could steer a terminal escaped: JSON itself lets all but the
/// lowest control characters through. Outside of its strings there are none.
pub(crate) fn safe_json(json: &str) -> Cow<'_, str> {
    if json.chars().all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len());
    for at in json.chars() {
        match is_plain(at) {
            true => safe.push(at),
            false => {
                let units = at.encode_utf16(&mut [0; 2]).to_vec();
                safe.extend(units.into_iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    Cow::Owned(safe)
}

/// Makes text harmless that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct SafeStream {
    previous: Option<char>,
    /// A carriage return was held back: whether it is harmless shows with the next character.
    holds_return: bool,
}

impl SafeStream {
    /// Takes a piece and gives what may be shown so far.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut safe = String::with_capacity(piece.len());
        for at in piece.chars() {
            if std::mem::take(&mut self.holds_return) && at != '\n' {
                safe.push(REPLACEMENT);
            }
            match at {
                '\r' => self.holds_return = true,
                at if is_plain(at) || self.joins(at) => safe.push(at),
                _ => safe.push(REPLACEMENT),
            }
            self.previous = Some(at);
        }
        safe
    }

    /// What was held back, at the end.
    pub(crate) fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.holds_return) { "\u{fffd}" } else { "" }
    }

    /// The joiners belong to scripts and to emoji; after ASCII they only hide something.
    fn joins(&self, at: char) -> bool {
        matches!(at, '\u{200c}' | '\u{200d}')
            && self.previous.is_some_and(|before| !before.is_ascii())
    }
}

fn is_plain(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => false,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => false,
        '\u{e0000}'..='\u{e007f}' => false,
        other => !other.is_control(),
    }
}

#[cfg(test)]
mod tests;
