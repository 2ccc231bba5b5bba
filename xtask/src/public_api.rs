//! Decides whether the public items of types, ports and kernel are those that were agreed on.
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

const CRATES: [&str; 3] = ["runtime-types", "runtime-ports", "runtime-kernel"];

/// Fails, and shows the difference, when a listing is not what the source says.
pub(crate) fn compare(workspace: &Workspace) -> anyhow::Result<()> {
    let mut changed = Vec::new();
    for name in CRATES {
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
    println!("the public API of {} is as agreed", CRATES.join(", "));
    Ok(())
}

/// Writes the listings as the source has them now.
pub(crate) fn bless(workspace: &Workspace) -> anyhow::Result<()> {
    for name in CRATES {
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

fn file(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join("docs/public-api").join(format!("{name}.txt"))
}

fn listing(workspace: &Workspace, name: &str) -> anyhow::Result<String> {
    let root = workspace.root().join("crates").join(name).join("src/lib.rs");
    let read = |path: &std::path::Path| fs::read_to_string(path).ok();
    let tree = modules::load(&name.replace('-', "_"), &root, &read)
        .with_context(|| format!("cannot list the public items of {name}"))?;
    Ok(listing::list(&tree))
}

#[cfg(test)]
mod tests;
