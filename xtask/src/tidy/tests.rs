//! The rules are really applied to the files they are for; the helpers of the rules' own tests.

use super::*;

/// A file for a test.
pub(super) fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}

/// The places and rules of the problems that a rule finds in a Rust snippet.
pub(super) fn found(rule: fn(&Source<'_>) -> Vec<Problem>, path: &str, text: &str) -> Vec<String> {
    let file = file(path, text);
    let source = Source::parse(&file).expect("the snippet parses");
    rule(&source).into_iter().map(|problem| problem.place).collect()
}

#[test]
fn every_rule_is_reached() {
    let open = concat!("//! Doc.\n// TO", "DO\n#[test]\n#[ignore]\nfn a() {}\n");
    let home = concat!("see /ro", "ot/x\n");
    let files = [
        file("crates/runtime-kernel/src/utils.rs", "const A: &str = \"Claude\";\n"),
        file("crates/runtime-decision/src/lib.rs", "//! Doc.\nasync fn a() {}\n"),
        file("crates/x-adapter/src/lib.rs", "//! Doc.\nfn a() { PortFailure::timeout(); }\n"),
        file("crates/y-adapter/src/lib.rs", "//! Doc.\nfn a() { tokio::spawn(b); }\n"),
        file("crates/x/src/broken.rs", "//! Doc.\nfn\n"),
        file("crates/x/src/lib.rs", open),
        file("docs/adr/0001-a.md", "# A\n"),
        file("docs/adr/0001-b.md", "# B\n"),
        file("docs/x.md", home),
    ];
    let mut rules: Vec<_> = check(&files, "").into_iter().map(|problem| problem.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    let expected = [
        "decision-note",
        "detached-task",
        "file-name",
        "ignored-test",
        "left-open",
        "machine-path",
        "module-doc",
        "neutral",
        "nothing-was-sent",
        "pure-decision",
        "syntax",
    ];
    assert_eq!(rules, expected);
}

#[test]
fn a_clean_tree_has_no_problems() {
    let files = [
        file("crates/x/src/lib.rs", "//! Decides what x is.\n\nfn a() {}\n"),
        file("AGENTS.md", "# For whoever works here\n"),
    ];
    assert_eq!(check(&files, ""), []);
}
