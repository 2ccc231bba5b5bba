//! Decides how a value stands in a line: as JSON with a checksum over its bytes.
//!
//! Knows the form of a line; refuses to know what is in it. Invariant: a line whose bytes are not
//! those that were written gives nothing.

use runtime_ports::Digest;
use serde::{Deserialize, Serialize};

use crate::{failure::FileError, lines::LONGEST_LINE};

/// How each line begins. Inside a record these bytes begin no other: JSON escapes quotes in texts,
/// and an object within a record is followed by the brackets that close the record.
const HEAD: &str = r#"{"check":""#;
const MIDDLE: &str = r#"","record":"#;
const CHECK_DIGITS: usize = 16;

/// Why a line gives no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Its bytes are not those that were written, or make no sense.
    Damaged(&'static str),
    /// It is whole, but a newer release wrote it.
    Newer(u16),
}

/// The line of a value, with its line feed.
///
/// # Errors
/// [`FileError::NotStorable`] when it has no form as JSON, or a too long one.
pub(crate) fn written(value: &impl Serialize) -> Result<String, FileError> {
    let json = serde_json::to_string(value);
    let json = json.map_err(|_| FileError::NotStorable("it has no form as JSON"))?;
    let line = format!("{HEAD}{}{MIDDLE}{json}}}\n", check_of(json.as_bytes()));
    if line.len() as u64 > LONGEST_LINE {
        return Err(FileError::NotStorable("it is too long"));
    }
    Ok(line)
}

/// The JSON of a line without its line feed, when its checksum holds.
///
/// # Errors
/// What is wrong with the line.
pub(crate) fn checked_json(line: &[u8]) -> Result<&[u8], &'static str> {
    let rest = line.strip_prefix(HEAD.as_bytes());
    let rest = rest.ok_or("the line does not begin like a record")?;
    let (check, rest) = rest.split_at_checked(CHECK_DIGITS).ok_or("the line is too short")?;
    let rest = rest.strip_prefix(MIDDLE.as_bytes()).ok_or("the checksum is malformed")?;
    let json = rest.strip_suffix(b"}").ok_or("the line ends early")?;
    if check_of(json).as_bytes() == check { Ok(json) } else { Err("the checksum does not match") }
}

/// Why JSON whose form is unknown gives no record, to who knows versions up to `newest`.
pub(crate) fn unknown_form(json: &[u8], newest: u16) -> Unreadable {
    match version_of(json) {
        Some(version) if version > newest => Unreadable::Newer(version),
        _ => Unreadable::Damaged("the record has an unknown form"),
    }
}

/// Where the last line begins in a damaged one. When a line feed was lost, two stand in one line,
/// and the second is whole.
pub(crate) fn last_in(line: &[u8]) -> Option<&[u8]> {
    let mut starts = line.windows(HEAD.len()).enumerate().skip(1);
    let at = starts.rfind(|(_, window)| *window == HEAD.as_bytes())?.0;
    Some(&line[at..])
}

/// The version of a record whose form is unknown.
fn version_of(json: &[u8]) -> Option<u16> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u16,
    }
    serde_json::from_slice::<Versioned>(json).ok().map(|record| record.version)
}

fn check_of(json: &[u8]) -> String {
    let mut digits = Digest::of(json).to_string();
    digits.truncate(CHECK_DIGITS);
    digits
}
