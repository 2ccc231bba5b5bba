//! Decides how rows are aligned in columns.
//!
//! Knows cells of harmless text, and that some characters are wide; refuses to know what they say.

use unicode_width::UnicodeWidthStr;

/// On which side of its column a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows under a head.
pub(crate) struct Table<const COLUMNS: usize> {
    sides: [Side; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    pub(crate) fn new(head: [(&str, Side); COLUMNS]) -> Self {
        let sides = head.map(|(_, side)| side);
        Self { sides, rows: vec![head.map(|(name, _)| name.to_owned())] }
    }

    pub(crate) fn push(&mut self, row: [String; COLUMNS]) {
        self.rows.push(row);
    }

    /// One line a row, two spaces between columns.
    pub(crate) fn into_text(self) -> String {
        let widest = |column: usize| self.rows.iter().map(|row| row[column].width()).max();
        let widths: [usize; COLUMNS] =
            std::array::from_fn(|column| widest(column).unwrap_or_default());
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(self.sides).zip(widths);
            let line: Vec<String> =
                cells.map(|((cell, side), width)| padded(cell, side, width)).collect();
            text.push_str(line.join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

fn padded(cell: &str, side: Side, width: usize) -> String {
    let room = " ".repeat(width.saturating_sub(cell.width()));
    match side {
        Side::Left => format!("{cell}{room}"),
        Side::Right => format!("{room}{cell}"),
    }
}

#[cfg(test)]
mod tests;
