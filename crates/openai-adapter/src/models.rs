//! Decides which models a server says that it serves.
//!
//! Knows nothing about what they can do: the lists of different servers agree on names alone.

use model_wire::answer::{filled, list};
use serde_json::Value;

/// Most servers list objects with an `id` under `data`; some call it `models` and `name`.
pub(crate) fn names(value: &Value) -> Vec<String> {
    let listed = list(value, "data").iter().chain(list(value, "models"));
    let name =
        |model: &Value| filled(model, "id").or_else(|| filled(model, "name")).map(str::to_owned);
    let mut names: Vec<String> = listed.filter_map(name).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests;
