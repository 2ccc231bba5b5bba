//! The table, row by row: what each crate may know and what it may not.

use super::*;

const CRATES: [&str; 12] = [
    "runtime-types",
    "runtime-ports",
    "runtime-decision",
    "runtime-kernel",
    "one-adapter",
    "in-memory-fakes",
    "port-conformance",
    "standard-tools",
    "http-service",
    "restate-adapter",
    "agent-cli",
    "xtask",
];

fn allowed(from: &str, only_in_tests: bool) -> Vec<&'static str> {
    let free = |to: &&str| check(&Arrow { from, to, only_in_tests }).is_none();
    CRATES.into_iter().filter(free).collect()
}

#[test]
fn each_crate_knows_what_its_row_says_and_nothing_else() {
    let below_kernel = ["runtime-types", "runtime-ports"];
    assert_eq!(allowed("runtime-types", false), [""; 0]);
    assert_eq!(allowed("runtime-ports", false), ["runtime-types"]);
    for name in [
        "runtime-decision",
        "one-adapter",
        "openai-adapter",
        "in-memory-fakes",
        "port-conformance",
        "standard-tools",
    ] {
        assert_eq!(allowed(name, false), below_kernel, "{name}");
    }
    let with_decision = ["runtime-types", "runtime-ports", "runtime-decision"];
    assert_eq!(allowed("runtime-kernel", false), with_decision);
    assert_eq!(allowed("restate-adapter", false), with_decision);
    let with_kernel = ["runtime-types", "runtime-ports", "runtime-kernel"];
    assert_eq!(allowed("http-service", false), with_kernel);
    assert_eq!(allowed("agent-cli", false), CRATES[..11]);
    assert_eq!(allowed("system-tests", false), CRATES);
    assert_eq!(allowed("xtask", false), [""; 0]);
}

#[test]
fn the_command_does_not_build_on_tests() {
    let arrow = Arrow { from: "agent-cli", to: "system-tests", only_in_tests: true };
    assert!(check(&arrow).is_some());
}

#[test]
fn suites_and_fakes_are_free_in_tests_only() {
    assert_eq!(
        allowed("one-adapter", true),
        ["runtime-types", "runtime-ports", "in-memory-fakes", "port-conformance"]
    );
    let kernel = Arrow { from: "one-adapter", to: "runtime-kernel", only_in_tests: true };
    let says = check(&kernel).expect("tests follow the table too").to_string();
    assert_eq!(
        says,
        "one-adapter: [arrow] may not depend on runtime-kernel; of ours it knows runtime-types, \
         runtime-ports only"
    );
}

#[test]
fn a_crate_outside_the_table_is_told_to_write_a_note() {
    let problems = check_crates(&["runtime-ports", "some-adapter", "runtime-extras"]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].to_string().starts_with("runtime-extras: [unknown-crate]"));
    assert!(problems[0].says.contains("docs/adr"));
}
