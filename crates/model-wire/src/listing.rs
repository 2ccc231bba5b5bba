//! Decides which models a server says that it serves, page by page.
//!
//! Knows nothing about what they can do: the lists of different servers agree on names alone.

use runtime_ports::PortFailure;
use serde_json::Value;

use crate::{
    answer::{filled, list},
    exchange::Exchange,
};

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The names on it, in the order of the server.
    pub names: Vec<String>,
    /// The path of the page after it, if there is one.
    pub next: Option<String>,
}

impl Exchange<'_> {
    /// The names on at most `most_pages` pages, of which `first` is the path of the first one. What
    /// stands on a page is `read`.
    ///
    /// # Cancellation
    /// Nothing remains: the requests only read.
    ///
    /// # Errors
    /// As of [`Exchange::get`], of the first page that fails.
    pub async fn list(
        &self,
        first: &str,
        most_pages: usize,
        read: impl Fn(&Value) -> Page,
    ) -> Result<Vec<String>, PortFailure> {
        let mut names = Vec::new();
        let mut path = Some(first.to_owned());
        for _ in 0..most_pages {
            let Some(this) = path.take() else { break };
            self.operation.remaining()?;
            let page = read(&self.get(&this).await?);
            names.extend(page.names);
            path = page.next;
        }
        Ok(names)
    }
}

/// The names of models in a list: most servers list objects with an `id` under `data`; some call it
/// `models` and `name`.
pub fn model_names(page: &Value) -> Vec<String> {
    let listed = list(page, "data").iter().chain(list(page, "models"));
    let name =
        |model: &Value| filled(model, "id").or_else(|| filled(model, "name")).map(str::to_owned);
    let mut names: Vec<String> = listed.filter_map(name).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests;
