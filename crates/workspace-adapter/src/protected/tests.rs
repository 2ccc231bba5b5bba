//! Checks which names are protected, in which spellings.

use std::ffi::OsStr;

use super::{Access, is_git, is_protected, is_repository_inside};

fn check(names: &[&str], read: bool, write: bool) {
    for name in names {
        let spellings = [
            (*name).to_owned(),
            name.to_uppercase(),
            name.to_lowercase(),
            format!("{name}."),
            format!("{name} "),
            format!("{name}::$DATA"),
            format!("\u{200d}{name}\u{feff}"),
            name.replace('s', "\u{17f}").replace('k', "\u{212a}"),
        ];
        for spelling in spellings {
            let spelling = OsStr::new(&spelling);
            let allowed = |access| !is_protected(spelling, access);
            let reality = (allowed(Access::Read), allowed(Access::Write));
            assert_eq!(reality, (read, write), "{spelling:?}");
        }
    }
}

#[test]
fn secrets_are_neither_read_nor_written() {
    check(
        &[
            ".git",
            "git~1",
            ".env",
            ".env.local",
            ".env.production",
            ".envrc",
            ".npmrc",
            ".ssh",
            ".netrc",
            ".git-credentials",
            ".aws",
            ".gnupg",
            ".kube",
            ".docker",
        ],
        false,
        false,
    );
}

#[test]
fn control_files_are_read_and_not_written() {
    check(
        &[
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            ".mcp.json",
            ".vscode",
            ".gitmodules",
            ".agent",
            ".cursor",
            ".cursorrules",
            ".idea",
            ".husky",
            ".devcontainer",
            ".bashrc",
            ".cargo",
        ],
        true,
        false,
    );
}

#[test]
fn ordinary_names_are_free() {
    check(
        &[
            ".gitignore",
            ".gitattributes",
            "git",
            "env",
            "environment",
            ".environment",
            "a.env",
            ".github",
            "README.md",
            "agents",
            "my-AGENTS.md",
            "git~x",
            "vscode",
            "TOTALS.md",
        ],
        true,
        true,
    );
}

#[test]
fn repositories_are_known_by_name_and_by_shape() {
    for (name, expected) in [(".git", true), (".GIT", true), ("git~1", true), (".github", false)] {
        assert_eq!(is_git(OsStr::new(name)), expected, "{name}");
    }
    let shape = |present: &[&str]| is_repository_inside(|name| present.contains(&name));
    assert!(shape(&["HEAD", "config", "objects", "refs"]));
    assert!(!shape(&["HEAD", "objects"]));
    assert!(!shape(&[]));
}
