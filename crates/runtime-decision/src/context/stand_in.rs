//! Decides which results of tools are shortened in a context, and what stands for them.
//!
//! Knows what tools declare, and nothing of what their results mean. Invariant: a stand-in answers
//! the same call as the result that it stands for, and is smaller.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use runtime_ports::{
    ArtifactDigest, ModelContent, ModelMessage, ModelRole, Transcript, TranscriptEntry,
};

use super::rendering::within;
use crate::wording::cut_middle;

/// How much of a result is still shown of what became an artifact, in bytes.
const EXCERPT_BYTES: usize = 600;

/// A result in a context, by its place.
pub(crate) type StandIn = (usize, Arc<TranscriptEntry>);

/// Notes in the place of results of more than `large` tokens between the places `first` and `end`
/// that their tool would give again.
pub(crate) fn notes(
    messages: &Transcript,
    (first, end): (usize, usize),
    large: u64,
    gives_again: impl Fn(&str) -> bool,
) -> Vec<StandIn> {
    let note = |name: &str, content: &str, failed: bool| {
        (!failed && gives_again(name)).then(|| {
            let bytes = content.len();
            format!(
                "[{bytes} bytes of {name} were left out here to save room; call it again if they \
                 are needed]"
            )
        })
    };
    let results = large_results(messages, (first, end), large);
    results.filter_map(|(place, entry)| Some((place, rewritten(entry, note)?))).collect()
}

/// Places of results between `first` and `end` that have more than `large` tokens and are not yet
/// the excerpt of an artifact.
pub(crate) fn to_offload(
    messages: &Transcript,
    (first, end): (usize, usize),
    large: u64,
) -> Vec<usize> {
    large_results(messages, (first, end), large).map(|(place, _)| place).collect()
}

/// The text of a result that is to become an artifact.
pub(crate) fn text_of_result(entry: &TranscriptEntry) -> Option<Arc<str>> {
    if entry.role() != ModelRole::Tool {
        return None;
    }
    entry.show(|message| match &message.content[..] {
        [ModelContent::ToolResult { content, .. }] => Some(content.as_str().into()),
        _ => None,
    })
}

/// The excerpt of a result whose text is kept as an artifact.
pub(crate) fn excerpt(
    entry: &TranscriptEntry,
    artifact: ArtifactDigest,
    reader: &str,
) -> Option<Arc<TranscriptEntry>> {
    rewritten(entry, |_, content, _| {
        let place = format!("read the whole of it with {reader}: artifact {artifact}");
        let note = format!("[{} bytes; {place}]", content.len());
        Some(
            [&note, "\n", &cut_middle(content, EXCERPT_BYTES, "the rest is in the artifact")]
                .concat(),
        )
    })
}

/// Results from place `first` on, each shortened so that all messages from there on have at most
/// `room` tokens; those that are short already stay.
pub(crate) fn squeezed(messages: &Transcript, first: usize, room: u64) -> Vec<StandIn> {
    let entries = || (first..).zip(messages.entries_from(first));
    let is_result = |entry: &TranscriptEntry| entry.role() == ModelRole::Tool;
    let tokens = |results: bool| {
        let of_kind = entries().filter(move |(_, entry)| is_result(entry) == results);
        of_kind.map(|(_, entry)| entry.estimated_tokens())
    };
    let left = room.saturating_sub(tokens(false).sum());
    let results = tokens(true).count() as u64;
    let each = left.checked_div(results).unwrap_or_default().max(LEAST_TOKENS);
    let long = entries().filter(|(_, entry)| is_result(entry) && entry.estimated_tokens() > each);
    let shorten = |_: &str, content: &str, _: bool| {
        Some(within(content.to_owned(), each.saturating_sub(LEAST_TOKENS / 2)))
    };
    long.filter_map(|(place, entry)| Some((place, rewritten(entry, shorten)?))).collect()
}

/// To how many tokens a result may be squeezed, what names it included.
const LEAST_TOKENS: u64 = 64;

fn large_results(
    messages: &Transcript,
    (first, end): (usize, usize),
    large: u64,
) -> impl Iterator<Item = (usize, &Arc<TranscriptEntry>)> {
    let entries = (first..end).zip(messages.entries_from(first));
    entries.filter(move |(_, entry)| {
        entry.role() == ModelRole::Tool && entry.estimated_tokens() > large
    })
}

/// The message with other texts in its results, when that makes it smaller.
fn rewritten(
    entry: &TranscriptEntry,
    rewrite: impl Fn(&str, &str, bool) -> Option<String>,
) -> Option<Arc<TranscriptEntry>> {
    let message = entry.show(|message| {
        let content = message.content.iter().map(|item| match item {
            ModelContent::ToolResult { tool_use_id, name, content, failed } => {
                let content = rewrite(name, content, *failed).unwrap_or_else(|| content.clone());
                let (tool_use_id, name, failed) = (tool_use_id.clone(), name.clone(), *failed);
                ModelContent::ToolResult { tool_use_id, name, content, failed }
            }
            other => other.clone(),
        });
        ModelMessage { role: message.role, content: content.collect() }
    });
    let stand_in = TranscriptEntry::new(message);
    (stand_in.estimated_tokens() < entry.estimated_tokens()).then(|| Arc::new(stand_in))
}

/// Whether one message may stand for the other: both answer the same calls, or they are equal.
pub(crate) fn stands_for(stand_in: &TranscriptEntry, original: &TranscriptEntry) -> bool {
    if stand_in.role() != ModelRole::Tool || original.role() != ModelRole::Tool {
        return stand_in.digest() == original.digest();
    }
    stand_in.show(|left| original.show(|right| answered(left) == answered(right)))
}

/// The calls that a message answers, in order, and how many other things it says.
fn answered(message: &ModelMessage) -> (Vec<(&str, &str, bool)>, usize) {
    let results: Vec<_> = message
        .content
        .iter()
        .filter_map(|item| match item {
            ModelContent::ToolResult { tool_use_id, name, failed, .. } => {
                Some((&**tool_use_id, &**name, *failed))
            }
            _ => None,
        })
        .collect();
    let others = message.content.len() - results.len();
    (results, others)
}
