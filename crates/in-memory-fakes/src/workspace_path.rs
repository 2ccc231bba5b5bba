//! Decides which texts name a place inside a workspace.
//!
//! Knows nothing about what is there. Invariant: whatever is refused is refused with one and the
//! same message.

use runtime_ports::{PortFailure, PortFailureKind};

const MAX_PATH_BYTES: usize = 4_096;

/// The path in its one form: parts joined by `/`, `""` for the root.
pub(crate) fn inside(path: &str) -> Result<String, PortFailure> {
    let leads_out = path.len() > MAX_PATH_BYTES
        || path.starts_with(['/', '~'])
        || path.contains(['\\', '\0'])
        || path.contains("://")
        || path.split('/').any(is_parent);
    if leads_out {
        return Err(outside());
    }
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Ok(parts.join("/"))
}

fn is_parent(part: &str) -> bool {
    part.to_ascii_lowercase().replace("%2e", ".") == ".."
}

fn outside() -> PortFailure {
    let message = "the path leads out of the workspace; name one inside, from its root";
    PortFailure::not_sent(PortFailureKind::Forbidden, "PATH_FORBIDDEN", message)
}

/// Whether `path` is `folder`, or lies below it.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    below(path, folder).is_some() || path == folder
}

/// The part of `path` below `folder`.
pub(crate) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path).filter(|path| !path.is_empty());
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Every folder above `path`, the root left out, nearest last.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
