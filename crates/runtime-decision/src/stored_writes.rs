//! Decides how changes of the shared state that are not visible yet are written into a stored run.
//!
//! Knows nothing about the run. A change is the list of its key and its value, which may be null; the
//! key alone is taken away. Invariant: what is written is read again as it was.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

#[derive(Serialize)]
#[serde(untagged)]
enum Written<'a> {
    Set(&'a str, &'a Value),
    Removed((&'a str,)),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Read {
    Set(String, Value),
    Removed((String,)),
}

pub(crate) fn serialize<S: Serializer>(
    writes: &[(String, Option<Value>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(writes.iter().map(|(key, value)| match value {
        Some(value) => Written::Set(key, value),
        None => Written::Removed((key,)),
    }))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, Option<Value>)>, D::Error> {
    let writes = Vec::<Read>::deserialize(deserializer)?;
    let write = |read| match read {
        Read::Set(key, value) => (key, Some(value)),
        Read::Removed((key,)) => (key, None),
    };
    Ok(writes.into_iter().map(write).collect())
}
