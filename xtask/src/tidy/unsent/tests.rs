//! Uses with and without the marker, in all the shapes code takes.

use super::*;
use crate::tidy::tests::found;

const ADAPTER: &str = "crates/x-adapter/src/a.rs";
const NONE: [&str; 0] = [];

fn lines(text: &str) -> Vec<String> {
    let places = found(check, ADAPTER, text);
    places.into_iter().map(|place| place.rsplit(':').next().expect("a line").to_owned()).collect()
}

#[test]
fn every_constructor_needs_the_marker() {
    for name in CONSTRUCTORS {
        assert_eq!(lines(&format!("fn a() {{\n    PortFailure::{name}()\n}}")), ["2"]);
        let marked = format!("fn a() {{\n    // {MARKER} refused\n    PortFailure::{name}()\n}}");
        assert_eq!(lines(&marked), NONE);
    }
}

#[test]
fn the_named_dispositions_are_free() {
    for name in ["not_sent", "rejected", "in_flight_unknown", "committed"] {
        assert_eq!(lines(&format!("fn a() {{ PortFailure::{name}() }}")), NONE);
    }
}

#[test]
fn a_marker_needs_a_reason_and_stands_directly_above() {
    assert_eq!(lines("fn a() {\n    // nothing was sent:\n    PortFailure::new()\n}"), ["3"]);
    assert_eq!(lines("fn a() {\n    // nothing was sent: x\n\n    PortFailure::new()\n}"), ["4"]);
    let two = "fn a() {\n    // nothing was sent: x\n    // and more\n    PortFailure::new()\n}";
    assert_eq!(lines(two), NONE);
    let far = "// nothing was sent: x\nfn a() {\n    b();\n    PortFailure::new()\n}";
    assert_eq!(lines(far), ["4"]);
}

#[test]
fn the_marker_may_stand_above_the_statement_or_the_arm() {
    let chain =
        "fn a() {\n    // nothing was sent: x\n    b()\n        .c(PortFailure::timeout);\n}";
    assert_eq!(lines(chain), NONE);
    let unmarked = "fn a() {\n    b()\n        .c(PortFailure::timeout);\n}";
    assert_eq!(lines(unmarked), ["3"]);
    let arm = "fn a() {\n    match b {\n        // nothing was sent: x\n        C => {\n            \
               PortFailure::new()\n        }\n        D => PortFailure::new(),\n    }\n}";
    assert_eq!(lines(arm), ["5", "7"]);
    let short = "fn a() {\n    match b {\n        // nothing was sent: x\n        C => \
                 d(\n            PortFailure::new(),\n        ),\n    }\n}";
    assert_eq!(lines(short), NONE);
}

#[test]
fn one_marker_does_not_cover_its_neighbours() {
    let text = "fn a() {\n    // nothing was sent: x\n    let b = PortFailure::new();\n    \
                PortFailure::new()\n}";
    assert_eq!(lines(text), ["4"]);
}

#[test]
fn macros_paths_and_new_names_do_not_hide_a_use() {
    assert_eq!(
        lines("fn a() {\n    select! {\n        x => PortFailure::timeout(),\n    }\n}"),
        ["3"]
    );
    assert_eq!(lines("fn a() {\n    runtime_ports::PortFailure::new()\n}"), ["2"]);
    assert_eq!(lines("fn a() {\n    <PortFailure>::new()\n}"), ["2"]);
    assert_eq!(lines("use runtime_ports::{A, PortFailure as Failure};"), ["1"]);
    assert_eq!(lines("use runtime_ports::{A, PortFailure};"), NONE);
}

#[test]
fn tests_and_the_home_of_the_type_are_free() {
    assert_eq!(lines("#[cfg(test)]\nmod tests {\n    fn a() { PortFailure::new() }\n}"), NONE);
    let text = "fn a() { PortFailure::new() }";
    assert_eq!(found(check, "crates/runtime-ports/src/failure.rs", text), Vec::<String>::new());
    assert_eq!(found(check, "crates/x-adapter/src/a/tests.rs", text), Vec::<String>::new());
    assert_eq!(found(check, "tests/src/lib.rs", text), Vec::<String>::new());
    assert_eq!(found(check, "crates/runtime-kernel/src/a.rs", text).len(), 1);
}
