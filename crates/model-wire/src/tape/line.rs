//! Decides what a line of a tape looks like.
//!
//! Knows the version of the format. Refuses to know who writes and who reads. Invariant: chunks keep
//! their boundaries, also where one ends in the middle of a character.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Value, json};

/// The version of the format.
pub(super) const VERSION: u64 = 1;

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// With the end of the answer.
    Complete,
    /// Nothing more was wanted of it: it had said that it was over, or it was no answer.
    Enough,
    /// The connection broke in the middle of the answer.
    Broken,
    /// Nothing more came in time.
    TimedOut,
    /// The operation was cancelled.
    Cancelled,
    /// The deadline of the operation passed.
    DeadlineExceeded,
    /// Whoever asked did not wait for it.
    Abandoned,
    /// There was no connection, or none to the end of the request.
    NotReached,
}

/// One exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExchangeLine {
    /// Its number, in the order in which requests were made, from 1.
    pub(super) exchange: u64,
    /// When the head of the answer came, or the exchange ended without one; Unix milliseconds.
    pub(super) at_ms: u64,
    /// The base URL of the server, without a query.
    pub(super) to: String,
    pub(super) method: String,
    /// As an adapter names it, below the base URL.
    pub(super) path: String,
    /// The body, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<Value>,
    /// How often a secret was blotted out in the request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) redacted: u64,
    /// Whether the request can have taken effect; it can whenever there is a status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sent: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    /// The body of the answer, chunk by chunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) chunks: Vec<Chunk>,
    pub(super) end: End,
    /// Why the server was not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// Bytes: a text where they are UTF-8, `{"base64": …}` elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk(pub(super) Bytes);

/// Something that whoever records wants to find again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoteLine {
    pub(super) note: String,
    pub(super) value: Value,
}

/// The first line.
pub(super) fn first() -> String {
    let by = concat!("agent-runtime ", env!("CARGO_PKG_VERSION"));
    format!("{}\n", json!({ "tape": VERSION, "by": by }))
}

/// A moment in milliseconds since 1970.
pub(crate) fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Binary { base64: String },
}

impl Serialize for Chunk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match std::str::from_utf8(&self.0) {
            Ok(text) => Written::Text(text.to_owned()),
            Err(_) => Written::Binary { base64: STANDARD.encode(&self.0) },
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Chunk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = match Written::deserialize(deserializer)? {
            Written::Text(text) => text.into_bytes(),
            Written::Binary { base64 } => {
                STANDARD.decode(base64).map_err(|_| D::Error::custom("a chunk is no base64"))?
            }
        };
        Ok(Self(bytes.into()))
    }
}
