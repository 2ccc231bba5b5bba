//! Decides how one record stands in the file: a line of JSON with a checksum over its bytes.
//!
//! Knows the form of a line; refuses to know what records mean together. Invariant: what is written
//! reads back equal, or is not written.

use runtime_ports::{Digest, RequestMeter, UsageReceipt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{failure::FileError, lines::LONGEST_LINE};

/// Version of the lines that this release writes.
pub(crate) const RECORD_VERSION: u16 = 1;

/// How each line begins. Inside a record these bytes cannot occur: JSON escapes quotes in texts,
/// and no object of a record has this as its first key.
const HEAD: &str = r#"{"check":""#;
const MIDDLE: &str = r#"","record":"#;
const CHECK_DIGITS: usize = 16;

/// One record, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) version: u16,
    /// The store that wrote it.
    pub(crate) owner: Uuid,
    pub(crate) change: Change,
}

/// What a record changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum Change {
    Opened { receipt: UsageReceipt },
    Noted { turn: Uuid, ordinal: u32, meter: RequestMeter },
    Settled { receipt: UsageReceipt },
}

/// Why a line gives no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Its bytes are not those that were written, or make no sense.
    Damaged(&'static str),
    /// It is whole, but a newer release wrote it.
    Newer(u16),
}

impl Record {
    /// The line, with its line feed.
    ///
    /// # Errors
    /// [`FileError::NotStorable`] when the line would not read back as this very record.
    pub(crate) fn to_line(&self) -> Result<String, FileError> {
        let json = serde_json::to_string(self);
        let json = json.map_err(|_| FileError::NotStorable("it has no form as JSON"))?;
        let line = format!("{HEAD}{}{MIDDLE}{json}}}\n", check_of(json.as_bytes()));
        if line.len() as u64 > LONGEST_LINE {
            return Err(FileError::NotStorable("it is too long"));
        }
        match Self::from_line(line.trim_end_matches('\n').as_bytes()) {
            Ok(read) if read == *self => Ok(line),
            _ => Err(FileError::NotStorable("it would not read back equal")),
        }
    }

    /// Reads a line without its line feed.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) fn from_line(line: &[u8]) -> Result<Self, Unreadable> {
        let json = checked_json(line).map_err(Unreadable::Damaged)?;
        match serde_json::from_slice::<Self>(json) {
            Ok(record) => record.of_known_version(),
            Err(_) => Err(match version_of(json) {
                Some(version) if version > RECORD_VERSION => Unreadable::Newer(version),
                _ => Unreadable::Damaged("the record has an unknown form"),
            }),
        }
    }

    /// The record at the end of a damaged line. When a line feed was lost, two records stand in one
    /// line, and the second is whole.
    pub(crate) fn last_in(line: &[u8]) -> Option<Self> {
        let mut starts = line.windows(HEAD.len()).enumerate().skip(1);
        let at = starts.rfind(|(_, window)| *window == HEAD.as_bytes())?.0;
        Self::from_line(&line[at..]).ok()
    }

    fn of_known_version(self) -> Result<Self, Unreadable> {
        let newest = match &self.change {
            Change::Noted { .. } => self.version,
            Change::Opened { receipt } | Change::Settled { receipt } => {
                self.version.max(receipt.version)
            }
        };
        const { assert!(RECORD_VERSION == UsageReceipt::VERSION) };
        match (self.version, newest) {
            (_, newer) if newer > RECORD_VERSION => Err(Unreadable::Newer(newer)),
            (RECORD_VERSION, _) => Ok(self),
            _ => Err(Unreadable::Damaged("the record has a version that never was")),
        }
    }
}

/// The JSON of a record whose checksum holds.
fn checked_json(line: &[u8]) -> Result<&[u8], &'static str> {
    let rest = line.strip_prefix(HEAD.as_bytes());
    let rest = rest.ok_or("the line does not begin like a record")?;
    let (check, rest) = rest.split_at_checked(CHECK_DIGITS).ok_or("the line is too short")?;
    let rest = rest.strip_prefix(MIDDLE.as_bytes()).ok_or("the checksum is malformed")?;
    let json = rest.strip_suffix(b"}").ok_or("the line ends early")?;
    if check_of(json).as_bytes() == check { Ok(json) } else { Err("the checksum does not match") }
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
