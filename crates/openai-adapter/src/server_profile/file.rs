//! Decides how a profile is kept in a file, and what is wrong with one that cannot be used.
//!
//! Knows nothing about where files are. Invariant: a file of another version, or with a field that
//! this version does not know, is refused rather than half understood.

use serde::Deserialize;
use thiserror::Error;

use super::{PROFILE_VERSION, ServerProfile};

/// What is wrong with a profile file. Lines count from 1; no value that could be a secret is shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It is no profile.
    #[error("line {line} of the server profile: {reason}")]
    Malformed {
        /// The line of the mistake.
        line: usize,
        /// What is wrong there, in the words of the reader of TOML.
        reason: String,
    },
    /// It does not say its version.
    #[error("the server profile has no version; write `version = {PROFILE_VERSION}`")]
    NoVersion,
    /// It is of another version.
    #[error(
        "the server profile has version {0}, and only {PROFILE_VERSION} is known; measure the \
         server again"
    )]
    UnknownVersion(u32),
    /// A field has a value that no server can have.
    #[error("the field {field} of the server profile {problem}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What it must be.
        problem: &'static str,
    },
}

#[derive(Deserialize)]
struct Versioned {
    version: Option<u32>,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<ServerProfile, ProfileError> {
    let versioned: Versioned = toml::from_str(text).map_err(|error| malformed(text, &error))?;
    match versioned.version {
        Some(PROFILE_VERSION) => {}
        Some(other) => return Err(ProfileError::UnknownVersion(other)),
        None => return Err(ProfileError::NoVersion),
    }
    let profile: ServerProfile = toml::from_str(text).map_err(|error| malformed(text, &error))?;
    checked(profile)
}

/// Writes a file.
pub(super) fn written(profile: &ServerProfile) -> String {
    toml::to_string(profile).unwrap_or_default()
}

fn malformed(text: &str, error: &toml::de::Error) -> ProfileError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    ProfileError::Malformed { line, reason: error.message().replace('\n', " ") }
}

fn checked(profile: ServerProfile) -> Result<ServerProfile, ProfileError> {
    let paths = [
        ("chat_path", &profile.chat_path),
        ("responses_path", &profile.responses_path),
        ("models_path", &profile.models_path),
    ];
    for (field, path) in paths {
        if path.is_empty() || path.contains(|c: char| c.is_whitespace() || "?#:\\".contains(c)) {
            return Err(invalid(field, "must be a path below the base url, without a query"));
        }
    }
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    match () {
        () if !is_word(&profile.reasoning_field) => {
            Err(invalid("reasoning_field", "must be the name of a field"))
        }
        () if !profile.api_version.as_deref().is_none_or(is_word) => {
            Err(invalid("api_version", "must be a word of letters, digits, `-`, `_` and `.`"))
        }
        () if !profile.key_header.as_deref().is_none_or(is_word) => {
            Err(invalid("key_header", "must be the name of a header"))
        }
        () if profile.context_tokens == Some(0) => {
            Err(invalid("context_tokens", "must be above zero, or be left out"))
        }
        () => Ok(profile),
    }
}

const fn invalid(field: &'static str, problem: &'static str) -> ProfileError {
    ProfileError::Invalid { field, problem }
}
