//! Decides how text that is being typed lies on the rows of a terminal, and where the cursor is.
//!
//! Knows widths: wide characters take two columns, marks none. Refuses to know what the text says.
//! Invariants: no row is as wide as the terminal, so that the terminal never wraps by itself; every
//! character that could steer the terminal is replaced.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::safe_text::safe_text;

/// What stands before each further line of a text of several lines.
const INDENT: &str = "  ";
/// Terminals are not narrower.
const NARROWEST: usize = 8;

/// Text on rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) rows: Vec<String>,
    /// Row and column, both from 0.
    pub(crate) cursor: (usize, usize),
}

/// Lays `prompt` and `text` out in so many columns; the cursor stands before the byte `cursor` of
/// the text.
pub(crate) fn layout(prompt: &str, text: &str, cursor: usize, columns: usize) -> Layout {
    let mut pen = Pen { rows: vec![String::new()], column: 0, limit: columns.max(NARROWEST) - 1 };
    prompt.graphemes(true).for_each(|grapheme| pen.put(grapheme));
    let mut place = None;
    for (at, grapheme) in text.grapheme_indices(true) {
        if at >= cursor && place.is_none() {
            place = Some(pen.place(grapheme));
        }
        pen.put(grapheme);
    }
    Layout { cursor: place.unwrap_or_else(|| pen.end()), rows: pen.rows }
}

impl Layout {
    /// The rows that are shown where there is room for so many: those around the cursor.
    pub(crate) fn within(mut self, height: usize) -> Self {
        let shown = window(self.rows.len(), self.cursor.0, height.max(1));
        self.cursor.0 -= shown.start;
        self.rows = self.rows[shown].to_vec();
        self
    }
}

/// The last row that fits with the cursor, or the first.
fn window(rows: usize, cursor: usize, height: usize) -> Range<usize> {
    let end = rows.min((cursor + 1).max(height));
    end.saturating_sub(height)..end
}

struct Pen {
    rows: Vec<String>,
    column: usize,
    limit: usize,
}

impl Pen {
    fn put(&mut self, grapheme: &str) {
        if matches!(grapheme, "\n" | "\r\n") {
            self.rows.push(INDENT.to_owned());
            self.column = INDENT.len();
            return;
        }
        let shown = shown(grapheme);
        if self.column + shown.width() > self.limit {
            self.rows.push(String::new());
            self.column = 0;
        }
        self.column += shown.width();
        if let Some(row) = self.rows.last_mut() {
            row.push_str(&shown);
        }
    }

    /// Where the grapheme will stand.
    fn place(&self, grapheme: &str) -> (usize, usize) {
        let row = self.rows.len() - 1;
        let is_break = matches!(grapheme, "\n" | "\r\n");
        match !is_break && self.column + shown(grapheme).width() > self.limit {
            true => (row + 1, 0),
            false => (row, self.column),
        }
    }

    fn end(&self) -> (usize, usize) {
        (self.rows.len() - 1, self.column)
    }
}

fn shown(grapheme: &str) -> String {
    match grapheme {
        "\t" => "    ".to_owned(),
        other => safe_text(other).into_owned(),
    }
}

/// The column behind a line that a terminal of so many columns wraps by itself; 0 when the last row
/// is full. Colours take no room.
pub(crate) fn column_behind(line: &str, columns: usize) -> usize {
    let columns = columns.max(NARROWEST);
    let plain = without_colours(line);
    let behind = plain.graphemes(true).fold(0, |column, grapheme| match grapheme {
        "\t" => (column / 8 * 8 + 8).min(columns - 1),
        other if column + other.width() > columns => other.width(),
        other => column + other.width(),
    });
    behind % columns
}

/// The text without the sequences that set colours, the only ones that are ever shown.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = behind.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests;
