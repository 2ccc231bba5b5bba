//! Decides what one record of the receipts says.
//!
//! Knows the form of a record; refuses to know what records mean together. Invariant: what is
//! written reads back equal, or is not written.

use runtime_ports::{RequestMeter, UsageReceipt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) use crate::checked_line::Unreadable;
use crate::{checked_line, failure::FileError};

/// Version of the lines that this release writes.
pub(crate) const RECORD_VERSION: u16 = 1;

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

impl Record {
    /// The line, with its line feed.
    ///
    /// # Errors
    /// [`FileError::NotStorable`] when the line would not read back as this very record.
    pub(crate) fn to_line(&self) -> Result<String, FileError> {
        let line = checked_line::written(self)?;
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
        let json = checked_line::checked_json(line).map_err(Unreadable::Damaged)?;
        match serde_json::from_slice::<Self>(json) {
            Ok(record) => record.of_known_version(),
            Err(_) => Err(checked_line::unknown_form(json, RECORD_VERSION)),
        }
    }

    /// The record at the end of a damaged line. When a line feed was lost, two records stand in one
    /// line, and the second is whole.
    pub(crate) fn last_in(line: &[u8]) -> Option<Self> {
        Self::from_line(checked_line::last_in(line)?).ok()
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
