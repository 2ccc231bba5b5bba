//! Decides which models a server says that it serves.
//!
//! Knows nothing about how the list is fetched.

use model_wire::{
    Page,
    answer::{filled, list},
};
use serde_json::Value;

/// The path of the first page, of the greatest size that the API gives.
pub(crate) const FIRST: &str = "models?pageSize=1000";

/// One page of the list.
pub(crate) fn page(page: &Value) -> Page {
    Page { names: names(page), next: next(page) }
}

/// The names, without their collection: those that generate content, where the server says which do.
fn names(page: &Value) -> Vec<String> {
    let listed = list(page, "models").iter().filter(|model| generates(model));
    let names = listed.filter_map(|model| filled(model, "name"));
    names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned()).collect()
}

fn generates(model: &Value) -> bool {
    let methods = list(model, "supportedGenerationMethods");
    methods.is_empty() || methods.iter().any(|method| method == "generateContent")
}

/// The path of the page after this one, when there is one.
fn next(page: &Value) -> Option<String> {
    let token = filled(page, "nextPageToken")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '=');
    token.chars().all(is_plain).then(|| format!("{FIRST}&pageToken={token}"))
}

#[cfg(test)]
mod tests;
