//! Decides which messages stay word for word, however much of the context is covered.
//!
//! Knows who speaks and what the engine itself writes in a user's name. Invariant: whatever a user
//! or the application said is kept; a call or a result never is, since its other half would be
//! missing.

use std::sync::Arc;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, TranscriptEntry};

use crate::wording::{NUDGE, is_picture_caption, tells_of_sub_task};

/// Whether somebody else than the model, its tools or the engine said it.
pub(crate) fn is_said(entry: &TranscriptEntry) -> bool {
    matches!(entry.role(), ModelRole::System | ModelRole::User)
        && entry.show(|message| !is_of_the_engine(message) && !kept(message).is_empty())
}

/// What stays of a message that was said: the same entry, unless a call or a result stands in it.
pub(crate) fn carried(entry: &Arc<TranscriptEntry>) -> Option<Arc<TranscriptEntry>> {
    if !is_said(entry) {
        return None;
    }
    let rest = entry.show(|message| {
        let kept = kept(message);
        (kept.len() < message.content.len()).then(|| kept.into_iter().cloned().collect::<Vec<_>>())
    });
    Some(match rest {
        None => Arc::clone(entry),
        Some(content) => {
            Arc::new(TranscriptEntry::new(ModelMessage { role: entry.role(), content }))
        }
    })
}

fn kept(message: &ModelMessage) -> Vec<&ModelContent> {
    let is_half = |item: &&ModelContent| {
        matches!(item, ModelContent::ToolUse { .. } | ModelContent::ToolResult { .. })
    };
    message.content.iter().filter(|item| !is_half(item)).collect()
}

/// A word to go on, the picture of a tool, or what a sub-task came to: they come again when they are
/// needed.
fn is_of_the_engine(message: &ModelMessage) -> bool {
    match &message.content[..] {
        [ModelContent::Text { text }] => text == NUDGE || tells_of_sub_task(text),
        [ModelContent::Text { text }, ModelContent::Image { .. }] => is_picture_caption(text),
        _ => false,
    }
}
