//! Decides whether every package in the dependency tree comes under a licence that we accept.
//!
//! The list is `xtask/licences.toml`. Knows SPDX expressions, not what the licences say.

mod expression;

use anyhow::Context;
use serde::Deserialize;

use crate::{
    problem::{Problem, settle},
    workspace::Workspace,
};

const RULE: &str = "licence";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowList {
    /// SPDX identifiers; one with an exception is written `X WITH Y`.
    allowed: Vec<String>,
}

/// A package and the licence that its manifest names.
struct Licensed<'a> {
    package: String,
    licence: Option<&'a str>,
}

/// Fails when a package of the whole tree, on any platform, has no accepted licence.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let list: AllowList =
        toml::from_str(include_str!("../licences.toml")).context("xtask/licences.toml")?;
    let metadata = workspace.metadata()?;
    let packages: Vec<_> = metadata
        .packages
        .iter()
        .map(|package| Licensed {
            package: format!("{} {}", package.name, package.version),
            licence: package.license.as_deref(),
        })
        .collect();
    settle("licences", &check(&packages, &list.allowed))?;
    println!("{} packages, each under an accepted licence", packages.len());
    Ok(())
}

fn check(packages: &[Licensed<'_>], allowed: &[String]) -> Vec<Problem> {
    packages.iter().filter_map(|package| refusal(package, allowed)).collect()
}

fn refusal(package: &Licensed<'_>, allowed: &[String]) -> Option<Problem> {
    let Some(licence) = package.licence else {
        let says = "names no licence, so nobody may use it";
        return Some(Problem::of(&package.package, RULE, says));
    };
    let says = match expression::parse(licence) {
        Ok(expression) if expression.holds(&|name| allowed.iter().any(|one| one == name)) => {
            return None;
        }
        Ok(_) => format!("`{licence}` is not on the allow-list, xtask/licences.toml"),
        Err(reason) => format!("`{licence}` is no SPDX expression: {reason}"),
    };
    Some(Problem::of(&package.package, RULE, says))
}

#[cfg(test)]
mod tests;
