//! Each rule on a snippet that keeps it and one that breaks it.

use super::*;
use crate::tidy::tests::{file, found};

fn rules(path: &str, text: &str) -> Vec<&'static str> {
    check_text(&file(path, text)).into_iter().map(|problem| problem.rule).collect()
}

fn lines(first: &str, count: usize) -> String {
    format!("{first}\n{}", "// line\n".repeat(count - first.lines().count()))
}

#[test]
fn the_first_line_is_a_module_doc() {
    assert_eq!(rules("src/a.rs", "//! Decides.\n"), Vec::<&str>::new());
    assert_eq!(rules("src/a.rs", "\n//! Decides.\n"), ["module-doc"]);
    assert_eq!(rules("src/a.rs", "//!\n//! Decides.\n"), ["module-doc"]);
    assert_eq!(rules("src/a.rs", "// Decides.\n"), ["module-doc"]);
    assert_eq!(rules("src/a.rs", ""), ["module-doc"]);
}

#[test]
fn a_long_file_says_why_and_a_longer_one_fails() {
    let silent = "//! Decides.";
    let explained = "//! Decides.\n//! Length: one table that is read as a whole.";
    assert_eq!(rules("src/a.rs", &lines(silent, 500)), Vec::<&str>::new());
    assert_eq!(rules("src/a.rs", &lines(silent, 501)), ["file-length"]);
    assert_eq!(rules("src/a.rs", &lines("//! Decides.\n//! Length:", 501)), ["file-length"]);
    assert_eq!(rules("src/a.rs", &lines(explained, 800)), Vec::<&str>::new());
    assert_eq!(rules("src/a.rs", &lines(explained, 801)), ["file-length"]);
}

#[test]
fn a_reason_outside_the_module_doc_does_not_count() {
    let late = "//! Decides.\nfn a() {}\n//! Length: too late.";
    assert_eq!(rules("src/a.rs", &lines(late, 501)), ["file-length"]);
}

#[test]
fn vague_names_are_refused_for_files_and_folders() {
    for path in ["src/utils.rs", "src/helpers.rs", "src/common/mod.rs", "src/types.rs"] {
        assert_eq!(rules(path, "//! Decides.\n"), ["file-name"], "{path}");
    }
    assert_eq!(rules("src/manager.rs", "//! Decides.\n"), ["file-name"]);
    assert_eq!(rules("crates/runtime-types/src/id.rs", "//! Decides.\n"), Vec::<&str>::new());
}

#[test]
fn tests_live_in_a_sibling_file() {
    let inline =
        |lines: usize| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    // line\n".repeat(lines));
    assert_eq!(found(check_inline_tests, "src/a.rs", &inline(39)), Vec::<String>::new());
    assert_eq!(found(check_inline_tests, "src/a.rs", &inline(40)), ["src/a.rs:2"]);
    let sibling = "#[cfg(test)]\nmod tests;\n";
    assert_eq!(found(check_inline_tests, "src/a.rs", sibling), Vec::<String>::new());
    let nested = format!("mod outer {{\n{}}}\n", inline(40));
    assert_eq!(found(check_inline_tests, "src/a.rs", &nested), ["src/a.rs:3"]);
}
