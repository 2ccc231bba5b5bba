//! Small graphs that break each rule, and the same graphs without the fault.

use super::*;

fn node(name: &str, builds_on: &[usize]) -> Node {
    Node { name: name.to_owned(), builds_on: builds_on.to_vec(), ..Node::default() }
}

#[test]
fn a_driver_is_found_however_deep_it_is() {
    for driver in DRIVERS {
        let graph = [
            node("runtime-kernel", &[1]),
            node("runtime-ports", &[2]),
            node("some-client", &[0, 3]),
            node(driver, &[]),
        ];
        let places: Vec<_> = check_drivers(&graph).into_iter().map(|found| found.place).collect();
        assert_eq!(places, ["runtime-kernel", "runtime-ports"], "{driver}");
        let says = &check_drivers(&graph)[1].says;
        assert!(says.ends_with(&format!("runtime-ports -> some-client -> {driver}")), "{says}");
    }
}

#[test]
fn adapters_may_have_drivers_and_neutral_crates_other_dependencies() {
    let graph = [
        node("x-adapter", &[1, 2]),
        node("reqwest", &[]),
        node("runtime-ports", &[3]),
        node("serde", &[]),
    ];
    assert_eq!(check_drivers(&graph), []);
}

#[test]
fn sorted_keys_stay_sorted() {
    let json = |features: &[&str]| Node {
        features: features.iter().map(|name| (*name).to_owned()).collect(),
        ..node("serde_json", &[])
    };
    let guilty = Node { asks_unsorted: true, ..node("pretty-config", &[0]) };
    assert_eq!(check_sorted(&[json(&["default", "std"])]), []);
    let problems = check_sorted(&[json(&["std", "preserve_order"]), guilty]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].says.ends_with("asked for by pretty-config"), "{}", problems[0].says);
}

#[test]
fn the_decision_machine_builds_on_six_crates_only() {
    let problems = check_decision("runtime-decision", &["serde", "tokio", "runtime-ports", "uuid"]);
    let says: Vec<_> = problems.iter().map(|problem| problem.says.as_str()).collect();
    assert_eq!(says.len(), 2);
    assert!(says[0].starts_with("may not depend on tokio") && says[1].contains("uuid"));
    assert_eq!(check_decision("runtime-kernel", &["tokio"]), []);
}

#[test]
fn what_the_decision_machine_is_built_from_lies_where_tidy_reads_it() {
    let target = |kind: &str, path: &str| -> Target {
        let value = serde_json::json!({ "name": kind, "kind": [kind], "src_path": path });
        serde_json::from_value(value).expect("a target")
    };
    let targets = [
        target("lib", "/x/src/lib.rs"),
        target("bin", "/x/src/main.rs"),
        target("test", "/x/tests/scripts.rs"),
        target("bench", "/x/benches/cycles.rs"),
        target("example", "/x/examples/a.rs"),
    ];
    assert_eq!(check_sources("runtime-decision", "/x/Cargo.toml", &targets), []);
    let strays = [
        target("custom-build", "/x/build.rs"),
        target("lib", "/x/other/lib.rs"),
        target("lib", "/x/src-of-others/lib.rs"),
    ];
    assert_eq!(check_sources("runtime-decision", "/x/Cargo.toml", &strays).len(), 3);
    assert_eq!(check_sources("runtime-kernel", "/x/Cargo.toml", &strays), []);
}
