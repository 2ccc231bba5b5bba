//! Holds the registry of suites against the sources: no port is forgotten, no suite is idle.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use port_conformance::{
    artifacts, context_audit, conversation, delegation, interaction, model, receipts,
    registry::{PORTS, Port, Suite},
    resources, subagents, trace, turn, workspace,
};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Rust source below a folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let is_rust = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let own = files.iter().filter(is_rust).map(|path| read(path));
    own.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// The identifiers that follow `introduction` at the beginning of a line.
fn introduced<'a>(source: &'a str, introduction: &'a str) -> impl Iterator<Item = String> + 'a {
    let lines = source.lines().filter_map(move |line| line.trim().strip_prefix(introduction));
    lines.map(|rest| {
        rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    })
}

fn suites() -> BTreeSet<(&'static str, &'static str, usize)> {
    let here = PORTS.iter().filter_map(|port| match port.suite {
        Suite::Here { module, macro_name, scenarios } => Some((module, macro_name, scenarios)),
        Suite::NotYet { .. } => None,
    });
    here.collect()
}

#[test]
fn every_port_is_registered_once() {
    let sources = sources(&crates().join("runtime-ports/src"));
    let traits: BTreeSet<_> =
        sources.iter().flat_map(|source| introduced(source, "pub trait ")).collect();
    let registered: BTreeSet<_> = PORTS.iter().map(|port| port.name.to_owned()).collect();
    assert!(traits.len() > 10, "the scan found only {traits:?}");
    assert_eq!(registered, traits, "registry (left) and public traits of runtime-ports (right)");
    assert_eq!(PORTS.len(), registered.len(), "a port is registered twice");
}

#[test]
fn every_suite_is_registered_and_not_empty() {
    let sources = sources(&crates().join("port-conformance/src"));
    let macros: BTreeSet<_> = sources
        .iter()
        .flat_map(|source| introduced(source, "macro_rules! "))
        .filter(|name| name.ends_with("_conformance"))
        .collect();
    let registered: BTreeSet<_> = suites().into_iter().map(|suite| suite.1.to_owned()).collect();
    assert_eq!(registered, macros, "registry (left) and macros (right)");
    assert!(suites().into_iter().all(|(_, _, scenarios)| scenarios > 0));
}

#[test]
fn every_suite_is_run_by_the_fakes() {
    let tests = read(&crates().join("in-memory-fakes/tests/conformance.rs"));
    let runs: BTreeSet<_> = introduced(&tests, "port_conformance::").collect();
    for (module, macro_name, _) in suites() {
        assert!(runs.contains(macro_name), "the fakes do not run the suite of {module}");
    }
}

/// Adapters that need not run the suite of one of their ports, and why.
const EXEMPT: &[(&str, &str, &str)] = &[
    (
        "offline-adapter",
        "model_conformance",
        "its answers follow rules, so no provider stages them",
    ),
    ("router-adapter", "model_conformance", "its session wraps an adapter's, which runs it"),
];

/// The macros of the suites of every port that a crate implements in its sources.
fn owed(sources: &[String]) -> BTreeSet<&'static str> {
    let implemented: BTreeSet<_> = sources
        .iter()
        .flat_map(|source| source.lines())
        .filter(|line| line.starts_with("impl"))
        .filter_map(|line| line.split_once(" for ")?.0.rsplit([' ', ':']).next())
        .collect();
    // A sink is the caller's side of its port.
    let ports = PORTS.iter().filter(|port| port.name != "DeltaSink");
    let ports = ports.filter(|port| implemented.contains(port.name));
    let suites = ports.filter_map(|port| match port.suite {
        Suite::Here { macro_name, .. } => Some(macro_name),
        Suite::NotYet { .. } => None,
    });
    suites.collect()
}

#[test]
fn every_adapter_runs_the_suites_of_its_ports() {
    let entries = fs::read_dir(crates()).expect("the folder of crates");
    let folders = entries.map(|entry| entry.expect("an entry").path());
    let adapters: Vec<_> =
        folders.filter(|path| path.to_string_lossy().ends_with("-adapter")).collect();
    assert!(adapters.len() > 4, "the scan found only {adapters:?}");
    for adapter in adapters {
        let own = sources(&adapter.join("src"));
        let tests = adapter.join("tests");
        let tests = if tests.is_dir() { sources(&tests) } else { Vec::new() };
        let runs = |name: &&str| {
            let call = format!("{name}!");
            own.iter().chain(&tests).any(|source| source.contains(&call))
        };
        let is_exempt = |name: &&str| {
            EXEMPT.iter().any(|(exempt, suite, _)| adapter.ends_with(exempt) && suite == name)
        };
        let idle: Vec<_> =
            owed(&own).into_iter().filter(|name| !runs(name) && !is_exempt(name)).collect();
        assert!(idle.is_empty(), "{} does not run {idle:?}", adapter.display());
    }
}

#[test]
fn every_suite_has_a_saboteur() {
    let saboteurs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saboteurs");
    for (module, _, _) in suites() {
        let saboteur = read(&saboteurs.join(module).join("mod.rs"));
        assert!(saboteur.contains("prove(SCENARIOS, "), "the saboteur of {module} proves nothing");
    }
}

#[test]
fn ports_without_a_suite_say_why() {
    for Port { name, suite } in PORTS {
        if let Suite::NotYet { reason } = suite {
            println!("{name} has no suite yet: {reason}");
            assert!(reason.len() > 20, "{name} gives no reason");
        }
    }
}

#[test]
fn names_and_promises_are_unique_in_a_suite() {
    let suites: [Vec<(&str, &str)>; 12] = [
        model::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        turn::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        receipts::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        workspace::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        interaction::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        artifacts::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        resources::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        subagents::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        delegation::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        conversation::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        context_audit::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
        trace::SCENARIOS.iter().map(|scenario| (scenario.name, scenario.claim)).collect(),
    ];
    for suite in suites {
        let names: BTreeSet<_> = suite.iter().map(|scenario| scenario.0).collect();
        let claims: BTreeSet<_> = suite.iter().map(|scenario| scenario.1).collect();
        assert_eq!((names.len(), claims.len()), (suite.len(), suite.len()));
    }
}
