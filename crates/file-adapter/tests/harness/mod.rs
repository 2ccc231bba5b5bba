//! The harnesses that put each file store under the suite of its port.
//!
//! Knows how a folder must be made for the stores to trust it.

use std::{fs::Permissions, os::unix::fs::PermissionsExt};

use port_conformance::Unstageable;
use tempfile::TempDir;

mod artifacts;
mod audit;
mod receipts;
mod resources;

pub(crate) use artifacts::FileArtifactHarness;
pub(crate) use audit::FileAuditHarness;
pub(crate) use receipts::FileReceiptHarness;
pub(crate) use resources::FileResourceHarness;

/// A fresh folder that nobody else can write to.
fn private_folder() -> Result<TempDir, Unstageable> {
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir();
    folder.map_err(|error| Unstageable::because(error.to_string()))
}
