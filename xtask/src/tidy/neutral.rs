//! Decides which names the neutral crates may not speak: vendors, HTTP clients, database drivers.
//!
//! Reads identifiers, string literals and doc comments, tests included.

use crate::{
    problem::Problem,
    source::{Kind, Source},
};

/// The crates that know no vendor and no driver.
pub(crate) const NEUTRAL_CRATES: [&str; 4] =
    ["runtime-types", "runtime-ports", "runtime-decision", "runtime-kernel"];

const NAMES: [&str; 8] =
    ["reqwest", "rusqlite", "sqlx", "openai", "anthropic", "gemini", "codex", "claude"];

/// Looks for the names in a source file of a neutral crate.
pub(crate) fn check(source: &Source<'_>) -> Vec<Problem> {
    let path = source.file.path.as_str();
    if !NEUTRAL_CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/src/"))) {
        return Vec::new();
    }
    let spoken = |kind: &Kind| match kind {
        Kind::Word(text) | Kind::Text(text) => spoken_name(text),
        Kind::Mark(_) | Kind::Other => None,
    };
    let tokens = source.tokens.iter();
    tokens
        .filter_map(|token| {
            let says = format!("`{}` belongs in an adapter", spoken(&token.kind)?);
            Some(Problem::at(path, token.line, "neutral", says))
        })
        .collect()
}

fn spoken_name(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    // `OpenAi`, `open_ai` and `open-ai` are the same word.
    let text: String = text.chars().filter(|mark| !matches!(mark, '_' | '-')).collect();
    NAMES.into_iter().find(|name| text.contains(name))
}

#[cfg(test)]
mod tests;
