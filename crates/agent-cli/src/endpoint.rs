//! Decides what must be known to reach a model server.
//!
//! Knows addresses and keys; refuses to know how requests look.

use runtime_types::CredentialHandle;
use serde::Deserialize;

/// The endpoint that a key without an address belongs to.
pub(crate) const PUBLIC_BASE_URL: &str = "https://api.openai.com/v1";

/// Which of the two APIs a server is spoken to with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Api {
    /// Chat Completions; every compatible server has it.
    Chat,
    /// Responses.
    Responses,
}

/// A model server.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// Address without a trailing slash.
    pub(crate) base_url: String,
    /// How to speak to it.
    pub(crate) api: Api,
    /// The key, if it wants one.
    pub(crate) key: Option<CredentialHandle>,
}

impl Endpoint {
    /// A name for the provider in receipts: the host of the address.
    pub(crate) fn provider(&self) -> String {
        let after_scheme =
            self.base_url.split_once("://").map_or(&*self.base_url, |(_, rest)| rest);
        let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or(after_scheme);
        authority.rsplit('@').next().unwrap_or(authority).to_owned()
    }
}

#[cfg(test)]
mod tests;
