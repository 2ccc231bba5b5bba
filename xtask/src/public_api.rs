//! Decides whether the public items of the crates that others build on are those agreed on.
//!
//! The agreed listing is `docs/public-api/<crate>.txt`. It is made from source with `syn`, so that
//! it needs no nightly compiler; it knows names and signatures, not what a macro of another crate
//! adds.

mod difference;
mod expansion;
mod listing;
mod modules;
mod names;
mod render;
mod tokens;

use std::{fs, path::PathBuf};

use anyhow::{Context, bail};

use crate::workspace::Workspace;

const CRATES: [&str; 4] = ["runtime-types", "runtime-ports", "runtime-kernel", "runtime-decision"];

/// Fails, and shows the difference, when a listing is not what the source says.
pub(crate) fn compare(workspace: &Workspace) -> anyhow::Result<()> {
    let mut changed = Vec::new();
    for name in present(workspace) {
        let agreed = fs::read_to_string(file(workspace, name)).unwrap_or_default();
        let found = listing(workspace, name)?;
        if agreed != found {
            eprintln!("{name}:\n{}", difference::between(&agreed, &found));
            changed.push(name);
        }
    }
    if !changed.is_empty() {
        bail!(
            "the public API of {} is not that of docs/public-api; if the change is meant, run \
             `cargo xtask public-api --bless` and add a line to CHANGELOG.md",
            changed.join(", ")
        );
    }
    println!("the public API of {} is as agreed", present(workspace).join(", "));
    Ok(())
}

/// Writes the listings as the source has them now.
pub(crate) fn bless(workspace: &Workspace) -> anyhow::Result<()> {
    for name in present(workspace) {
        let file = file(workspace, name);
        let listing = listing(workspace, name)?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, listing).with_context(|| format!("cannot write {}", file.display()))?;
        println!("wrote docs/public-api/{name}.txt");
    }
    Ok(())
}

/// Those of the list that are there: a crate may be agreed on before it is written.
fn present(workspace: &Workspace) -> Vec<&'static str> {
    CRATES.into_iter().filter(|name| folder(workspace, name).is_dir()).collect()
}

fn folder(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join("crates").join(name)
}

fn file(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join("docs/public-api").join(format!("{name}.txt"))
}

fn listing(workspace: &Workspace, name: &str) -> anyhow::Result<String> {
    let root = folder(workspace, name).join("src/lib.rs");
    let read = |path: &std::path::Path| fs::read_to_string(path).ok();
    let tree = modules::load(&name.replace('-', "_"), &root, &read)
        .with_context(|| format!("cannot list the public items of {name}"))?;
    Ok(listing::list(&tree))
}

#[cfg(test)]
mod tests;
