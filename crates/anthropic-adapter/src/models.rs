//! Decides which models a server says that it serves.
//!
//! Knows nothing about what they can do.

use model_wire::answer::{filled, list};
use serde_json::Value;

/// One page of the list: the names, and where the next page begins, if there is one.
pub(crate) fn page(value: &Value) -> (Vec<String>, Option<String>) {
    let listed = list(value, "data").iter().chain(list(value, "models"));
    let name =
        |model: &Value| filled(model, "id").or_else(|| filled(model, "name")).map(str::to_owned);
    let mut names: Vec<String> = listed.filter_map(name).collect();
    names.dedup();
    let more = value.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    let next = filled(value, "last_id").filter(|id| more && is_plain(id)).map(str::to_owned);
    (names, next)
}

/// The name goes into an address, as it is.
fn is_plain(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte))
}

#[cfg(test)]
mod tests;
