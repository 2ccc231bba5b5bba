//! Decides whether the page of complaints is complete, and names only tests that exist.

use std::{fs, path::Path};

const PAGE: &str = "docs/complaints.md";
const COMPLAINTS: usize = 25;

fn read(path: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).ok()
}

fn page() -> String {
    read(PAGE).expect("the page of complaints")
}

/// The tests that a line names, as file and function.
fn tests_of(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter_map(|span| span.split_once(".rs::"))
}

/// A test is a function; a scenario of a suite stands in its list.
fn has(source: &str, name: &str) -> bool {
    source.contains(&format!("fn {name}("))
        || source.lines().any(|line| line.trim_start().starts_with(&format!("{name} [")))
}

#[test]
fn every_test_of_the_page_exists() {
    let page = page();
    let named: Vec<_> = page.lines().flat_map(tests_of).collect();
    assert!(named.len() > 50, "only {} tests were found on the page", named.len());
    let is_missing = |(file, name): &(&str, &str)| {
        !read(&format!("{file}.rs")).is_some_and(|source| has(&source, name))
    };
    let missing: Vec<_> = named.into_iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{PAGE} names tests that are not there: {missing:#?}");
}

#[test]
fn every_complaint_has_a_test_or_a_later_part() {
    let page = page();
    for number in 1..=COMPLAINTS {
        let row = page.lines().find(|line| line.starts_with(&format!("| {number} |")));
        let row = row.unwrap_or_else(|| panic!("complaint {number} is not on the page"));
        let is_held = tests_of(row).next().is_some() || row.contains("belongs to a later part: ");
        assert!(is_held, "complaint {number} is held by nothing");
    }
}

#[test]
fn every_regression_and_oracle_has_a_test() {
    let page = page();
    let (_, rest) = page.split_once("## Regressions").expect("the regressions");
    let is_head = |line: &str| line.starts_with("|---") || line.ends_with("| held by |");
    let rows: Vec<_> =
        rest.lines().filter(|line| line.starts_with('|') && !is_head(line)).collect();
    assert!(rows.len() > 15, "only {} rows", rows.len());
    for row in rows {
        assert!(tests_of(row).next().is_some(), "held by nothing: {row}");
    }
}
