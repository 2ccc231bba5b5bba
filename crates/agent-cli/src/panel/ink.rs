//! Decides which bytes bring the rows of the input to the bottom of a terminal, and text above them.
//!
//! Knows a handful of control sequences that every terminal has. Refuses to know what is typed.
//! Invariants: text goes on where the text before it ended, whatever is typed below; what was
//! painted is erased before anything else is shown, in the same write.

use super::layout::{Layout, column_behind};

/// What the terminal shows.
#[derive(Debug, Default)]
pub(super) struct Ink {
    /// The line of text above the input that is not ended, colours included.
    tail: String,
    /// The row of the input that the cursor is in, from 0; none when no input is painted.
    cursor_row: Option<usize>,
}

/// Terminals that know it show what is between at once; all others ignore it.
const TOGETHER: (&str, &str) = ("\x1b[?2026h", "\x1b[?2026l");
/// A line is not longer in memory: what wraps further up does not move any more.
const TAIL_KEPT: usize = 16 << 10;

impl Ink {
    /// Shows more text above the input.
    pub(super) fn text(&mut self, text: &str, input: Option<&Layout>, columns: usize) -> String {
        let mut bytes = self.erased(columns);
        bytes.push_str(&text.replace('\n', "\r\n"));
        match text.rsplit_once('\n') {
            Some((_, behind)) => self.tail = behind.to_owned(),
            None => self.tail.push_str(text),
        }
        if self.tail.len() > TAIL_KEPT {
            bytes.push_str("\r\n");
            self.tail.clear();
        }
        together(bytes + &self.painted(input))
    }

    /// Shows the input as it is now.
    pub(super) fn input(&mut self, input: Option<&Layout>, columns: usize) -> String {
        let bytes = self.erased(columns);
        together(bytes + &self.painted(input))
    }

    /// Whether the text above the input ends within a line.
    pub(super) fn is_in_a_line(&self) -> bool {
        !self.tail.is_empty()
    }

    /// The person has cleared the screen.
    pub(super) fn cleared(&mut self, input: Option<&Layout>) -> String {
        self.cursor_row = None;
        let tail = self.tail.clone();
        together(format!("\x1b[H\x1b[2J{tail}{}", self.painted(input)))
    }

    /// Removes the input, if there is one; the cursor is at the end of the text above it.
    fn erased(&mut self, columns: usize) -> String {
        let mut bytes = match self.cursor_row.take() {
            None => return String::new(),
            Some(0) => "\r\x1b[J".to_owned(),
            Some(row) => format!("\r\x1b[{row}A\x1b[J"),
        };
        match column_behind(&self.tail, columns) {
            // The row of the tail is full, or there is none.
            0 => {}
            column => bytes.push_str(&format!("\x1b[A\r\x1b[{column}C")),
        }
        bytes
    }

    /// Paints the input below the text.
    fn painted(&mut self, input: Option<&Layout>) -> String {
        let Some(input) = input else { return String::new() };
        let (row, column) = input.cursor;
        let mut bytes = if self.tail.is_empty() { String::new() } else { "\r\n".to_owned() };
        bytes.push_str(&input.rows.join("\r\n"));
        match input.rows.len() - 1 - row {
            0 => {}
            up => bytes.push_str(&format!("\x1b[{up}A")),
        }
        bytes.push('\r');
        if column > 0 {
            bytes.push_str(&format!("\x1b[{column}C"));
        }
        self.cursor_row = Some(row);
        bytes
    }
}

fn together(bytes: String) -> String {
    if bytes.is_empty() {
        return bytes;
    }
    let (begin, end) = TOGETHER;
    format!("{begin}{bytes}{end}")
}

#[cfg(test)]
mod tests;
