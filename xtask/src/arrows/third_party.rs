//! Decides what the neutral crates may take from others, and what no dependency may switch on.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use cargo_metadata::{DependencyKind, Metadata, PackageId, Target, TargetKind};

use crate::{problem::Problem, tidy::NEUTRAL_CRATES};

/// Clients and drivers, which belong in adapters; found however deep they are.
const DRIVERS: [&str; 4] = ["reqwest", "hyper", "rusqlite", "sqlx"];

/// All that the decision machine builds on, so that nothing brings it a clock or a runtime.
const DECISION: (&str, [&str; 6]) = (
    "runtime-decision",
    ["runtime-types", "runtime-ports", "serde", "serde_json", "sha2", "thiserror"],
);

/// Targets that run beside the machine and never as part of it.
const TESTING: [TargetKind; 3] = [TargetKind::Test, TargetKind::Bench, TargetKind::Example];

/// Digests are taken over JSON with sorted keys; this feature would keep them as inserted.
const UNSORTED: (&str, &str) = ("serde_json", "preserve_order");

/// A package of the resolved graph, as far as these rules need it.
#[derive(Debug, Default)]
struct Node {
    name: String,
    features: Vec<String>,
    builds_on: Vec<usize>,
    asks_unsorted: bool,
}

/// All the rules.
pub(crate) fn check(metadata: &Metadata) -> Vec<Problem> {
    let graph = graph(metadata);
    let mut problems = check_drivers(&graph);
    problems.extend(check_sorted(&graph));
    for package in metadata.workspace_packages() {
        let direct = package.dependencies.iter();
        let direct = direct.filter(|to| to.kind != DependencyKind::Development);
        let direct: Vec<&str> = direct.map(|to| to.name.as_str()).collect();
        problems.extend(check_decision(&package.name, &direct));
        problems.extend(check_sources(
            &package.name,
            package.manifest_path.as_str(),
            &package.targets,
        ));
    }
    problems
}

fn graph(metadata: &Metadata) -> Vec<Node> {
    let nodes = metadata.resolve.as_ref().map_or(&[][..], |resolve| &resolve.nodes);
    let index: BTreeMap<&PackageId, usize> =
        nodes.iter().enumerate().map(|(at, node)| (&node.id, at)).collect();
    nodes
        .iter()
        .map(|node| {
            let package = &metadata[&node.id];
            let built = node.deps.iter().filter(|to| {
                to.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development)
            });
            Node {
                name: package.name.to_string(),
                features: node.features.iter().map(|feature| feature.to_string()).collect(),
                builds_on: built.filter_map(|to| index.get(&to.pkg).copied()).collect(),
                asks_unsorted: asks_unsorted(package),
            }
        })
        .collect()
}

fn asks_unsorted(package: &cargo_metadata::Package) -> bool {
    let (name, feature) = UNSORTED;
    let on = format!("{name}/{feature}");
    let weak = format!("{name}?/{feature}");
    let direct = package
        .dependencies
        .iter()
        .any(|to| to.name == name && to.features.iter().any(|asked| asked == feature));
    direct || package.features.values().flatten().any(|asked| *asked == on || *asked == weak)
}

fn check_drivers(graph: &[Node]) -> Vec<Problem> {
    let neutral = graph.iter().enumerate().filter(|(_, node)| is_neutral(&node.name));
    let found = neutral.filter_map(|(at, node)| {
        let chain = chain_to_driver(graph, at)?;
        let says = format!("builds on a client or driver: {}", chain.join(" -> "));
        Some(Problem::of(&node.name, "driver", says))
    });
    found.collect()
}

fn is_neutral(name: &str) -> bool {
    NEUTRAL_CRATES.contains(&name)
}

fn chain_to_driver(graph: &[Node], start: usize) -> Option<Vec<&str>> {
    let mut chains = vec![vec![start]];
    let mut seen = BTreeSet::from([start]);
    while let Some(chain) = chains.pop() {
        let last = &graph[*chain.last()?];
        if DRIVERS.contains(&last.name.as_str()) {
            return Some(chain.iter().map(|at| graph[*at].name.as_str()).collect());
        }
        let next = last.builds_on.iter().filter(|to| seen.insert(**to));
        chains.extend(next.map(|to| chain.iter().copied().chain([*to]).collect::<Vec<_>>()));
    }
    None
}

fn check_sorted(graph: &[Node]) -> Vec<Problem> {
    let (name, feature) = UNSORTED;
    let unsorted =
        |node: &&Node| node.name == name && node.features.iter().any(|enabled| enabled == feature);
    let asking: Vec<&str> =
        graph.iter().filter(|node| node.asks_unsorted).map(|node| node.name.as_str()).collect();
    let says = format!(
        "`{feature}` is on, so JSON keys are no longer sorted and digests change; asked for by {}",
        asking.join(", ")
    );
    graph.iter().filter(unsorted).map(|_| Problem::of(name, "sorted-json", says.as_str())).collect()
}

fn check_decision(from: &str, direct: &[&str]) -> Vec<Problem> {
    let (decision, allowed) = DECISION;
    if from != decision {
        return Vec::new();
    }
    let others = direct.iter().filter(|name| !allowed.contains(name));
    others
        .map(|name| {
            let says = format!("may not depend on {name}; only on {}", allowed.join(", "));
            Problem::of(from, "pure-decision", says)
        })
        .collect()
}

/// The decision machine is read by `cargo xtask tidy`: all that it is built from lies where that
/// looks.
fn check_sources(from: &str, manifest: &str, targets: &[Target]) -> Vec<Problem> {
    let (decision, _) = DECISION;
    if from != decision {
        return Vec::new();
    }
    let tests = |target: &Target| target.kind.iter().any(|kind| TESTING.contains(kind));
    let built = targets.iter().filter(|target| !tests(target));
    let root = Path::new(manifest).with_file_name("src");
    let strangers = built.filter(|target| !target.src_path.starts_with(&root));
    strangers
        .map(|target| {
            let says = format!(
                "the target {} begins outside of src, where `cargo xtask tidy` does not look; move \
                 it there, or remove it",
                target.name
            );
            Problem::of(decision, "pure-decision", says)
        })
        .collect()
}

#[cfg(test)]
mod tests;
