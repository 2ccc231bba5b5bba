//! Decides how much of a tool's output a model is shown, and where the rest is kept.
//!
//! Knows nothing about what the output says. Invariant: a cut says that it is one, how long the
//! whole was, and where the whole is.

use runtime_ports::{ArtifactDigest, OperationContext, PortFailure, ToolWorld};

/// What a model is shown.
pub(super) struct Shown {
    pub(super) text: String,
    /// Where the whole is, when `text` is a part and the store took it.
    pub(super) artifact: Option<ArtifactDigest>,
}

/// The content itself when it has at most `limit` bytes; else its two ends with a note between
/// them, together at most `limit` bytes (or the note alone, if it is longer).
pub(super) async fn shown(
    operation: &OperationContext,
    world: &ToolWorld,
    content: String,
    limit: usize,
) -> Shown {
    if content.len() <= limit {
        return Shown { text: content, artifact: None };
    }
    let kept = keep(operation, world, &content).await;
    let place = match &kept {
        Ok(digest) => format!("the whole is kept as artifact {digest}"),
        Err(failure) => format!("the whole could not be kept ({})", failure.code),
    };
    let note = format!("\n[cut in the middle: the output had {} bytes; {place}]\n", content.len());
    Shown { text: cut_middle(&content, limit, &note), artifact: kept.ok() }
}

async fn keep(
    operation: &OperationContext,
    world: &ToolWorld,
    content: &str,
) -> Result<ArtifactDigest, PortFailure> {
    let put = world.artifacts.put(operation, content.as_bytes());
    operation.bounded(put).await.unwrap_or_else(|interruption| Err(interruption.in_flight()))
}

/// The two ends of `text` with `note` between them, on character boundaries.
fn cut_middle(text: &str, limit: usize, note: &str) -> String {
    let room = limit.saturating_sub(note.len());
    let head = text.floor_char_boundary(room.div_ceil(2));
    let tail = text.ceil_char_boundary(text.len() - room / 2);
    [&text[..head], note, &text[tail..]].concat()
}
