//! Decides which texts are paths of a workspace, before any I/O.
//!
//! Knows nothing about what is on the disk. Invariant: a `WorkspacePath` holds plain names only,
//! so that joining it to a folder cannot lead out, in any common reading of its text.

use runtime_ports::PortFailure;

use crate::failure;

const MAX_PATH_BYTES: usize = 4_096;
const MAX_NAME_BYTES: usize = 255;
/// Bounds the open folders of one call: each folder on the way stays open during it.
const MAX_DEPTH: usize = 128;

/// A validated path: the names from the root down, none for the root itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspacePath {
    names: Vec<String>,
}

impl WorkspacePath {
    /// Takes a path apart. Every refusal is the same failure.
    pub(crate) fn parse(path: &str) -> Result<Self, PortFailure> {
        let names: Vec<_> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        let sound = is_sound_text(path)
            && names.len() <= MAX_DEPTH
            && names.first().is_none_or(|first| !starts_elsewhere(first))
            && names.iter().all(|name| is_plain_name(name));
        if !sound {
            return Err(failure::outside());
        }
        Ok(Self { names: names.into_iter().map(str::to_owned).collect() })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}

/// The text of a name as a caller is shown it: what could not be part of a path is replaced.
pub(crate) fn shown(name: &str) -> String {
    name.chars().map(|c| if is_hidden_character(c) { '\u{fffd}' } else { c }).collect()
}

fn is_sound_text(path: &str) -> bool {
    path.len() <= MAX_PATH_BYTES
        && !path.starts_with('/')
        && !path.contains('\\')
        && !path.chars().any(is_hidden_character)
}

/// Characters that do not show, or make other text show differently.
fn is_hidden_character(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A home folder, a drive or a URL: relative to us, but not to who wrote it.
fn starts_elsewhere(first: &str) -> bool {
    let is_home = first
        .strip_prefix('~')
        .is_some_and(|user| user.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)));
    let scheme = first.split_once(':').is_some_and(|(scheme, rest)| {
        let is_drive = scheme.len() == 1 && scheme.chars().all(|c| c.is_ascii_alphabetic());
        is_drive || rest.is_empty() || scheme.eq_ignore_ascii_case("file")
    });
    is_home || scheme
}

fn is_plain_name(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES
        && !is_dots(name)
        && !holds_encoded_separator(name)
        && !is_lookalike(name)
}

/// `..`, and what some systems read as `..`: more dots, or spaces among them.
fn is_dots(name: &str) -> bool {
    name.chars().all(|c| matches!(c, '.' | ' '))
}

/// Percent-encoded dots, separators, NUL and percent signs, overlong forms included.
fn holds_encoded_separator(name: &str) -> bool {
    const ENCODED: [&str; 9] = ["%2e", "%2f", "%5c", "%00", "%25", "%c0", "%c1", "%e0%80", "%u00"];
    let name = name.to_ascii_lowercase();
    ENCODED.iter().any(|encoded| name.contains(encoded))
}

/// Names that a normalising layer turns into separators around dots or around nothing.
fn is_lookalike(name: &str) -> bool {
    let plain = name
        .replace(['\u{2024}', '\u{ff0e}', '\u{fe52}'], ".")
        .replace('\u{2025}', "..")
        .replace(['\u{2044}', '\u{2215}', '\u{29f8}', '\u{ff0f}', '\u{ff3c}', '\u{29f5}'], "/");
    plain != name && plain.split('/').any(is_dots)
}

#[cfg(test)]
mod tests;
