//! Decides whether programs over different adapters differ only where the adapter is built.

use std::{fs, path::Path};

const ADAPTER: &str = "    // The adapter:\n";
const PROGRAM: &str = "    // The program:\n";

/// The program without the lines that build its adapter, and how many those are.
fn without_adapter(name: &str) -> (String, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("swap").join(name);
    let text = fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(ADAPTER).expect("the adapter is marked");
    let (adapter, after) = rest.split_once(PROGRAM).expect("the program is marked");
    (format!("{before}{ADAPTER}{PROGRAM}{after}"), adapter.lines().count())
}

fn check(group: &str, adapters: &[&str]) {
    let (expected, _) = without_adapter(&format!("{group}_over_fake.rs"));
    for adapter in adapters {
        let (program, built_in) = without_adapter(&format!("{group}_over_{adapter}.rs"));
        assert_eq!(program, expected, "{group} over {adapter}");
        assert!(built_in > 1, "{group} over {adapter} builds no adapter");
    }
}

#[test]
fn agents_differ_only_in_the_adapter() {
    check("agent", &["openai", "catalogue"]);
}

#[test]
fn sessions_differ_only_in_the_adapter() {
    check("session", &["openai", "catalogue"]);
}

#[test]
fn model_calls_differ_only_in_the_adapter() {
    check("model", &["openai", "anthropic", "gemini", "catalogue"]);
}
