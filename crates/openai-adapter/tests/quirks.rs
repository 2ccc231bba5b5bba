//! Decides whether the page of wire quirks has every rule, and names only tests that exist.

use std::{fs, path::Path};

const PAGE: &str = "docs/wire-quirks.md";

/// How many rules each letter has.
const RULES: [(char, usize); 6] = [('A', 14), ('B', 13), ('C', 12), ('D', 5), ('E', 13), ('F', 12)];

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).ok()
}

fn exists(test: &str) -> bool {
    let Some((file, name)) = test.split_once("::") else { return false };
    read(file).is_some_and(|source| is_test(&source, name))
}

/// Whether `source` has a function `name` with an attribute of a test above it, and with none that
/// keeps it from being run.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let starts = [format!("fn {name}()"), format!("async fn {name}()")];
    let begins = |line: &&str| starts.iter().any(|start| line.starts_with(start.as_str()));
    let Some(at) = lines.iter().position(begins) else { return false };
    let above = lines[..at].iter().rev();
    let above = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let attributes: Vec<_> = above.filter(|line| line.starts_with("#[")).collect();
    let is_left_out = |line: &&&str| line.contains("ignore") || line.starts_with("#[cfg");
    let is_run = |line: &&&str| **line == "#[test]" || line.starts_with("#[tokio::test");
    attributes.iter().any(is_run) && !attributes.iter().any(is_left_out)
}

#[test]
fn only_what_runs_as_a_test_counts() {
    let cases = [
        ("#[test]\nfn rule() {", true),
        ("#[tokio::test]\nasync fn rule() {", true),
        ("#[tokio::test(start_paused = true)]\n#[ignore]\nasync fn rule() {", false),
        ("#[ignore = \"slow\"]\n#[test]\nfn rule() {", false),
        ("#[test]\n// why\n#[cfg_attr(debug_assertions, ignore)]\nfn rule() {", false),
        ("#[cfg(target_os = \"other\")]\n#[test]\nfn rule() {", false),
        ("#[test]\n// nothing to ignore\nfn rule() {", true),
        ("fn rule() {", false),
        ("#[test]\nfn other() {}\n\nfn rule() {", false),
        ("#[test]\nfn a_longer_rule() {", false),
    ];
    for (source, expected) in cases {
        assert_eq!(is_test(source, "rule"), expected, "{source}");
    }
}

#[test]
fn every_rule_has_a_row_and_every_row_a_test() {
    let page = read(PAGE).expect("the page of wire quirks");
    let rules =
        RULES.iter().flat_map(|(letter, count)| (1..=*count).map(move |n| format!("{letter}{n}")));
    for rule in rules.chain(["overflow".to_owned(), "output".to_owned()]) {
        let row = page.lines().find(|line| line.starts_with(&format!("| {rule} | ")));
        let row = row.unwrap_or_else(|| panic!("{rule} has no row"));
        let named = row.rsplit(" | ").next().unwrap_or_default();
        let tests: Vec<&str> = named.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{rule} is held by nothing");
        let missing: Vec<_> = tests.into_iter().filter(|test| !exists(test)).collect();
        assert!(missing.is_empty(), "{rule} names tests that are not there: {missing:?}");
    }
}
