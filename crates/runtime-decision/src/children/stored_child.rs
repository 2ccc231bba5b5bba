//! Decides how a child that was suspended is kept within its parent: as the JSON that it is.
//!
//! Knows nothing about what is in it. Invariant: it is read as it was written, however deep runs
//! are nested, and no level of them adds to it.

use std::sync::Arc;

use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, ser::Error as _};
use serde_json::value::RawValue;

/// The stored run without what stands around its JSON; none when it is no JSON.
pub(super) fn checked(stored: &str) -> Option<Arc<str>> {
    serde_json::from_str::<&RawValue>(stored).ok().map(|raw| raw.get().into())
}

pub(super) fn serialize<S: Serializer>(
    stored: &Option<Arc<str>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(stored) = stored else { return serializer.serialize_none() };
    let raw: &RawValue = serde_json::from_str(stored).map_err(S::Error::custom)?;
    raw.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Arc<str>>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(Some(raw.get().into()))
}
