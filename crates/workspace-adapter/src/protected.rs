//! Decides which names an agent may not read, and which it may not change.
//!
//! Knows nothing about contents: a secret under another name is not recognised. Invariant: a name
//! is compared as the most forgiving file system would read it, so that no spelling slips through.

use std::ffi::OsStr;

/// What a call wants to do with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Look at it.
    Read,
    /// Make or replace it, or something below it.
    Write,
}

/// Secrets and repository internals: neither read nor changed.
const SECRET: [&str; 14] = [
    ".git",
    ".git-credentials",
    ".env",
    ".envrc",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".pgpass",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".azure",
];

/// Files and folders that steer agents, editors, package managers, hooks and shells: an agent
/// reads them and never changes them.
const CONTROL: [&str; 39] = [
    ".agent",
    ".agents",
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".cursorrules",
    ".cursorignore",
    ".windsurf",
    ".windsurfrules",
    ".clinerules",
    ".roo",
    ".aider.conf.yml",
    ".mcp.json",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".gitmodules",
    ".gitconfig",
    ".husky",
    ".pre-commit-config.yaml",
    ".cargo",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".config",
    ".local",
];

/// Whether this name, anywhere on a path, forbids the access.
pub(crate) fn is_protected(name: &OsStr, access: Access) -> bool {
    let name = folded(&name.to_string_lossy());
    let is_secret =
        SECRET.contains(&name.as_str()) || name.starts_with(".env.") || is_short_git(&name);
    is_secret || (access == Access::Write && CONTROL.contains(&name.as_str()))
}

/// Whether the name is `.git` in any spelling: what `list` and `search` never show.
pub(crate) fn is_git(name: &OsStr) -> bool {
    let name = folded(&name.to_string_lossy());
    name == ".git" || is_short_git(&name)
}

/// Whether a folder with these names is a repository's inside, whatever it is called: `.git`
/// after a rename, or a bare repository that git would obey.
pub(crate) fn is_repository_inside(mut has: impl FnMut(&str) -> bool) -> bool {
    ["HEAD", "objects", "refs"].into_iter().all(&mut has)
}

/// `.git` as a short name of a FAT file system.
fn is_short_git(name: &str) -> bool {
    name.strip_prefix("git~").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Case, ignorable characters, NTFS streams, trailing dots and spaces removed.
fn folded(name: &str) -> String {
    let visible: String = name
        .chars()
        .filter(|c| {
            !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
        })
        .collect();
    let stem = visible.split(':').next().unwrap_or_default();
    let lower = stem.replace('\u{17f}', "s").to_lowercase();
    lower.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests;
