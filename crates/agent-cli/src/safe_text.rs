//! Decides what text may reach a terminal.
//!
//! Knows which characters steer terminals or hide text. Refuses to know where the text came from:
//! model output, file names, tool results and errors all go through here. Invariant: the result
//! has no control character but line feed and tab, and no bidirectional override.

use std::borrow::Cow;

/// Replaces what could steer a terminal: control characters (C0, C1, DEL), and the invisible
/// characters that reorder or hide text. Carriage return before a line feed is dropped.
pub(crate) fn safe_text(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let without_crlf = text.replace("\r\n", "\n");
    Cow::Owned(
        without_crlf.chars().map(|at| if is_harmless(at) { at } else { '\u{fffd}' }).collect(),
    )
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

fn is_harmless(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => false,
        '\u{feff}' | '\u{2028}' | '\u{2029}' => false,
        other => !other.is_control(),
    }
}

#[cfg(test)]
mod tests;
