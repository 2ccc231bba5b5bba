//! Decides how changes of the shared state are written, in a tool's reply and in a stored run: for
//! `#[serde(with = "runtime_ports::state_writes")]`.
//!
//! Knows nothing about the state. A change is the list of its key and its value. Null in the place
//! of the value takes the key away; two of them set it to null. Invariant: what is written is read
//! again as it was.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

#[derive(Serialize)]
#[serde(untagged)]
enum Written<'a> {
    Null(&'a str, (), ()),
    Removed(&'a str, ()),
    Set(&'a str, &'a Value),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Read {
    Null(String, (), ()),
    Removed(String, ()),
    Set(String, Value),
}

/// Writes changes in their order.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(
    writes: &[(String, Option<Value>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(writes.iter().map(|(key, value)| match value {
        Some(Value::Null) => Written::Null(key, (), ()),
        Some(value) => Written::Set(key, value),
        None => Written::Removed(key, ()),
    }))
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// It is no list of changes.
pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, Option<Value>)>, D::Error> {
    let writes = Vec::<Read>::deserialize(deserializer)?;
    let write = |read| match read {
        Read::Null(key, (), ()) => (key, Some(Value::Null)),
        Read::Removed(key, ()) => (key, None),
        Read::Set(key, value) => (key, Some(value)),
    };
    Ok(writes.into_iter().map(write).collect())
}
