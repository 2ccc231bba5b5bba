//! Decides which models a server says that it serves.
//!
//! Knows nothing about what they can do.

use model_wire::{Page, answer::filled, model_names};
use serde_json::Value;

/// The path of the first page, of the greatest size that the API gives.
pub(crate) const FIRST: &str = "models?limit=1000";

/// One page of the list.
pub(crate) fn page(value: &Value) -> Page {
    let more = value.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    let last = filled(value, "last_id").filter(|id| more && is_plain(id));
    Page { names: model_names(value), next: last.map(|id| format!("{FIRST}&after_id={id}")) }
}

/// The name goes into an address, as it is.
fn is_plain(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte))
}

#[cfg(test)]
mod tests;
