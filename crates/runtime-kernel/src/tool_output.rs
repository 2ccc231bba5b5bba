//! Decides how much of a tool's output a model is shown, and where the rest is kept.
//!
//! Knows nothing about what the output says. Invariants: a cut says that it is one, how long the
//! whole was, and where the whole is; a store that breaks down costs the rest of the output, not
//! the reply.

use runtime_decision::wording::cut_middle;
use runtime_ports::{ArtifactDigest, OperationContext, PortFailure, PortFailureKind, ToolWorld};

use crate::engine::contained::{Panicked, contained};

/// What a model is shown.
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Where the whole is, when `text` is a part and the store took it.
    pub(crate) artifact: Option<ArtifactDigest>,
}

/// The content itself when it has at most `limit` bytes; else its two ends with a note between
/// them, together at most `limit` bytes (or the note alone, if it is longer). The note names the
/// whole as the tool `reader`, if there is one, takes it.
pub(crate) async fn shown(
    operation: &OperationContext,
    world: &ToolWorld,
    content: String,
    limit: usize,
    reader: Option<&str>,
) -> Shown {
    if content.len() <= limit {
        return Shown { text: content, artifact: None };
    }
    let kept = keep(operation, world, &content).await;
    let place = match (&kept, reader) {
        (Ok(digest), Some(reader)) => {
            format!("the whole is kept, read it with {reader} by its digest {digest}")
        }
        (Ok(digest), None) => format!("the whole is kept as artifact {digest}"),
        (Err(failure), _) => format!("the whole could not be kept ({})", failure.code),
    };
    Shown { text: cut_middle(&content, limit, &place), artifact: kept.ok() }
}

async fn keep(
    operation: &OperationContext,
    world: &ToolWorld,
    content: &str,
) -> Result<ArtifactDigest, PortFailure> {
    let put = async { world.artifacts.put(operation, content.as_bytes()).await };
    match operation.bounded(contained(put)).await {
        Ok(Ok(kept)) => kept,
        Ok(Err(Panicked)) => {
            let message = "the artifact store panicked, which is a fault of its own";
            let kind = PortFailureKind::Internal;
            Err(PortFailure::in_flight_unknown(kind, "STORE_PANICKED", message))
        }
        Err(interruption) => Err(interruption.in_flight()),
    }
}
