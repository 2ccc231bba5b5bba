//! Decides what must be known to reach a model server, and which public ones are known by name.
//!
//! Knows addresses and keys; refuses to know how requests look.

use std::path::PathBuf;

use anyhow::Context;
use runtime_types::CredentialHandle;
use serde::{Deserialize, Serialize};

/// The endpoint that a key without an address belongs to.
pub(crate) const PUBLIC_BASE_URL: &str = "https://api.openai.com/v1";

/// Which API a server is spoken to with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Api {
    /// Chat Completions; every compatible server has it.
    Chat,
    /// Responses.
    Responses,
    /// Messages.
    Messages,
    /// generateContent.
    Gemini,
}

impl Api {
    /// As the configuration file writes it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }
}

/// A model server.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// What the user calls it; without a name it is called by its host.
    pub(crate) name: Option<String>,
    /// Address without a trailing slash.
    pub(crate) base_url: String,
    /// How to speak to it.
    pub(crate) api: Api,
    /// The key, if it wants one.
    pub(crate) key: Option<CredentialHandle>,
    /// In what the server departs from its API.
    pub(crate) profile: Option<Profile>,
}

/// Where it is written in what a server departs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Profile {
    /// In this file.
    File(PathBuf),
    /// Here: a recording brought it.
    Text(String),
}

impl Profile {
    /// What is written.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn text(&self) -> anyhow::Result<String> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::File(path) => std::fs::read_to_string(path)
                .with_context(|| format!("the server profile {} is unreadable", path.display())),
        }
    }

    /// For messages.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Text(_) => "of the tape".to_owned(),
        }
    }
}

/// A public provider.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Vendor {
    /// As the catalogue writes it.
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    pub(crate) base_url: &'static str,
    /// What is appended to an address that a variable names, as the tools of the vendor do.
    pub(crate) version: &'static str,
    /// The variables that may hold the key; the first that does counts.
    pub(crate) keys: &'static [&'static str],
    /// The variable that may name another address.
    pub(crate) address: &'static str,
    /// How names of its models begin.
    pub(crate) prefix: &'static str,
    /// The model that its key gets when none is named.
    pub(crate) default_model: &'static str,
}

/// The public providers beside the first, which a server of any other kind may stand in for.
pub(crate) const VENDORS: [Vendor; 2] = [
    Vendor {
        name: "anthropic",
        api: Api::Messages,
        base_url: "https://api.anthropic.com/v1",
        version: "/v1",
        keys: &["ANTHROPIC_API_KEY"],
        address: "ANTHROPIC_BASE_URL",
        prefix: "claude-",
        default_model: "claude-sonnet-5-5",
    },
    Vendor {
        name: "gemini",
        api: Api::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        version: "/v1beta",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address: "GEMINI_BASE_URL",
        prefix: "gemini-",
        default_model: "gemini-4-hydrogen",
    },
];

impl Endpoint {
    /// A name for the provider in receipts: its own, or the host of the address.
    pub(crate) fn provider(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let after_scheme =
            self.base_url.split_once("://").map_or(&*self.base_url, |(_, rest)| rest);
        let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or(after_scheme);
        authority.rsplit('@').next().unwrap_or(authority).to_owned()
    }

    /// The provider of the catalogue behind a public address. Another server may charge something
    /// else for a model of the same name.
    pub(crate) fn catalogue_provider(&self) -> Option<&'static str> {
        let vendor = VENDORS.iter().find(|vendor| vendor.base_url == self.base_url);
        let is_first = self.base_url == PUBLIC_BASE_URL;
        vendor.map(|vendor| vendor.name).or_else(|| is_first.then_some("openai"))
    }

    /// Whether both are one server, spoken to in one way.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.provider() == other.provider()
            && (&self.base_url, self.api) == (&other.base_url, other.api)
    }
}

impl Vendor {
    /// The address that a variable names, with the version that its own tools append.
    pub(crate) fn versioned(&self, address: &str) -> String {
        let address = address.trim().trim_end_matches('/');
        if address.contains('?') || address.rsplit('/').next().is_some_and(is_version) {
            return address.to_owned();
        }
        format!("{address}{}", self.version)
    }
}

/// `v1`, `v1beta`.
fn is_version(segment: &str) -> bool {
    let mut letters = segment.chars();
    letters.next() == Some('v') && letters.next().is_some_and(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests;
