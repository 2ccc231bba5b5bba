//! Decides how one record stands in the file: a line of JSON with a checksum over its bytes.
//!
//! Knows the form of a line; refuses to know what records mean together.

use runtime_ports::{Digest, RequestMeter, UsageReceipt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Version of the lines that this release writes.
pub(crate) const RECORD_VERSION: u16 = 1;

const HEAD: &str = r#"{"check":""#;
const MIDDLE: &str = r#"","record":"#;
const CHECK_DIGITS: usize = 16;

/// One record, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) version: u16,
    /// The process that wrote it.
    pub(crate) owner: Uuid,
    pub(crate) change: Change,
}

/// What a record changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Change {
    Opened { receipt: UsageReceipt },
    Noted { turn: Uuid, ordinal: u32, meter: RequestMeter },
    Settled { receipt: UsageReceipt },
}

impl Record {
    /// The line, with its line feed.
    pub(crate) fn to_line(&self) -> String {
        let json = serde_json::to_string(self).expect("records are valid JSON");
        format!("{HEAD}{}{MIDDLE}{json}}}\n", check_of(&json))
    }

    /// Reads a line without its line feed.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the line.
    pub(crate) fn from_line(line: &str) -> Result<Self, &'static str> {
        let rest = line.strip_prefix(HEAD).ok_or("the line does not begin like a record")?;
        let (check, rest) = rest.split_at_checked(CHECK_DIGITS).ok_or("the line is too short")?;
        let rest = rest.strip_prefix(MIDDLE).ok_or("the checksum is malformed")?;
        let json = rest.strip_suffix('}').ok_or("the line ends early")?;
        if check_of(json) != check {
            return Err("the checksum does not match");
        }
        serde_json::from_str(json).map_err(|_| "the record has an unknown form")
    }

    /// The version of a line whose checksum holds, even if its form is unknown.
    pub(crate) fn version_of(line: &str) -> Option<u16> {
        #[derive(Deserialize)]
        struct Versioned {
            record: VersionOnly,
        }
        #[derive(Deserialize)]
        struct VersionOnly {
            version: u16,
        }
        serde_json::from_str::<Versioned>(line).ok().map(|line| line.record.version)
    }
}

fn check_of(json: &str) -> String {
    let mut digits = Digest::of(json.as_bytes()).to_string();
    digits.truncate(CHECK_DIGITS);
    digits
}
