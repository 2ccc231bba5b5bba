//! Decides where a line of the file begins and ends, however long or broken it is.
//!
//! Knows bytes only. Invariant: a line is complete when its line feed is there, and never more than
//! [`LONGEST_LINE`] bytes are kept in memory.

use std::io::{self, BufRead, Read};

/// Longest line that is read, in bytes with its line feed. Longer ones are never written.
pub(crate) const LONGEST_LINE: u64 = 16 << 20;

/// What was found at the position of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A line, now in the buffer without its line feed.
    Line,
    /// A line that is longer than any that is written.
    Overlong,
    /// The beginning of a line without an end.
    Torn,
    /// Nothing.
    End,
}

/// Reads the next line into `line` and says how many bytes were passed.
pub(crate) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<(Found, u64)> {
    line.clear();
    let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', line)? as u64;
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok((Found::Line, read));
    }
    match read {
        0 => Ok((Found::End, 0)),
        LONGEST_LINE => {
            let (ends, skipped) = skip_line(reader)?;
            Ok((if ends { Found::Overlong } else { Found::Torn }, read + skipped))
        }
        _ => Ok((Found::Torn, read)),
    }
}

/// Passes the rest of a line; whether it has an end, and how many bytes it has.
fn skip_line(reader: &mut impl BufRead) -> io::Result<(bool, u64)> {
    let mut skipped = 0;
    loop {
        let chunk = reader.fill_buf()?;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(chunk.len(), |at| at + 1);
        let is_over = end.is_some() || chunk.is_empty();
        reader.consume(used);
        skipped += used as u64;
        if is_over {
            return Ok((end.is_some(), skipped));
        }
    }
}
