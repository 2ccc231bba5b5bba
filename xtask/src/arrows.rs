//! Decides which crate may depend on which: the table below is the architecture.
//!
//! Reads `cargo metadata`; knows nothing about what the crates do.

mod third_party;

use cargo_metadata::{DependencyKind, Metadata};

use crate::{
    problem::{Problem, settle},
    workspace::Workspace,
};

/// What a crate may depend on among ours.
#[derive(Debug, Clone, Copy)]
enum May {
    Only(&'static [&'static str]),
    AnyCrate,
    Anything,
}

/// From the bottom to the top. A later crate joins with a line here and a decision note.
const LAYERS: [(&str, May); 17] = [
    ("runtime-types", May::Only(&[])),
    ("runtime-ports", May::Only(&["runtime-types"])),
    ("runtime-decision", May::Only(&["runtime-types", "runtime-ports"])),
    ("runtime-kernel", May::Only(&["runtime-types", "runtime-ports", "runtime-decision"])),
    ("in-memory-fakes", May::Only(&["runtime-types", "runtime-ports"])),
    ("port-conformance", May::Only(&["runtime-types", "runtime-ports"])),
    ("model-wire", May::Only(&["runtime-types", "runtime-ports"])),
    // It plays the provider of the suite for every model adapter, so that it knows the suite.
    (
        "wire-rehearsal",
        May::Only(&["runtime-types", "runtime-ports", "model-wire", "port-conformance"]),
    ),
    ("openai-adapter", MODEL_ADAPTER),
    ("anthropic-adapter", MODEL_ADAPTER),
    ("gemini-adapter", MODEL_ADAPTER),
    (
        "wire-fuzz",
        May::Only(&[
            "runtime-types",
            "runtime-ports",
            "model-wire",
            "openai-adapter",
            "anthropic-adapter",
            "gemini-adapter",
        ]),
    ),
    ("standard-tools", May::Only(&["runtime-types", "runtime-ports"])),
    ("http-service", May::Only(&["runtime-types", "runtime-ports", "runtime-kernel"])),
    ("restate-adapter", May::Only(&["runtime-types", "runtime-ports", "runtime-decision"])),
    ("agent-cli", May::AnyCrate),
    ("system-tests", May::Anything),
];
const MODEL_ADAPTER: May = May::Only(&["runtime-types", "runtime-ports", "model-wire"]);
const ADAPTER: (&str, May) = ("-adapter", May::Only(&["runtime-types", "runtime-ports"]));
const DEVELOPER: (&str, May) = ("xtask", May::Only(&[]));

/// Test doubles and suites: any crate may test itself with them.
const FREE_IN_TESTS: [&str; 3] = ["port-conformance", "in-memory-fakes", "wire-rehearsal"];
/// What no crate builds on, the command included.
const TOPS: [&str; 3] = ["system-tests", "wire-fuzz", "xtask"];

/// One dependency of one crate of ours on another.
#[derive(Debug)]
struct Arrow<'a> {
    from: &'a str,
    to: &'a str,
    only_in_tests: bool,
}

/// Fails on an arrow that the table does not have, and on what third parties may not bring.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let metadata = workspace.metadata()?;
    let ours: Vec<&str> =
        metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let arrows = arrows(&metadata, &ours);
    let mut problems = check_crates(&ours);
    problems.extend(arrows.iter().filter_map(check));
    problems.extend(third_party::check(&metadata));
    settle("arrows", &problems)?;
    println!("{} crates, {} arrows, all of them in the table", ours.len(), arrows.len());
    Ok(())
}

fn arrows<'a>(metadata: &'a Metadata, ours: &[&str]) -> Vec<Arrow<'a>> {
    let mut arrows = Vec::new();
    for package in metadata.workspace_packages() {
        let inside = package.dependencies.iter().filter(|to| ours.contains(&to.name.as_str()));
        arrows.extend(inside.map(|dependency| Arrow {
            from: package.name.as_str(),
            to: &dependency.name,
            only_in_tests: dependency.kind == DependencyKind::Development,
        }));
    }
    arrows
}

fn check_crates(ours: &[&str]) -> Vec<Problem> {
    let strangers = ours.iter().filter(|name| may(name).is_none());
    strangers
        .map(|name| {
            let says = "is in no layer; add it to the table of `cargo xtask arrows` and write a \
                        decision note in docs/adr";
            Problem::of(name, "unknown-crate", says)
        })
        .collect()
}

fn may(name: &str) -> Option<May> {
    let mut rows = LAYERS.iter().chain([&DEVELOPER]);
    let named = rows.find(|(row, _)| *row == name).map(|(_, may)| *may);
    named.or_else(|| name.ends_with(ADAPTER.0).then_some(ADAPTER.1))
}

fn check(arrow: &Arrow<'_>) -> Option<Problem> {
    let allowed = match may(arrow.from)? {
        May::Anything => true,
        May::AnyCrate => !TOPS.contains(&arrow.to),
        May::Only(names) => names.contains(&arrow.to),
    };
    if allowed || (arrow.only_in_tests && FREE_IN_TESTS.contains(&arrow.to)) {
        return None;
    }
    let says = format!("may not depend on {}; {}", arrow.to, instead(arrow.from));
    Some(Problem::of(arrow.from, "arrow", says))
}

fn instead(from: &str) -> String {
    match may(from) {
        Some(May::Only([])) => "it depends on no crate of ours".to_owned(),
        Some(May::Only(names)) => format!("of ours it knows {} only", names.join(", ")),
        _ => "it builds on no test or developer crate".to_owned(),
    }
}

#[cfg(test)]
mod tests;
