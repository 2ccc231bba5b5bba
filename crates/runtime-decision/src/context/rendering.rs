//! Decides how a stretch of a context is written down for a summariser, within a given room.
//!
//! Knows nothing about what becomes of it. Results are shortened first, then what was said; when
//! there are more messages than fit at all, the middle ones are left out. What is shortened is cut
//! in its middle. Invariant: the text is at most as long as the room, and work is linear in the
//! room and in the number of messages, not in what is left out.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, TranscriptEntry, estimate_text_tokens};

use crate::wording::cut_middle;

/// What stands around a message.
const FRAME_BYTES: u64 = 40;
/// To how many bytes a result is shortened before anything else is.
const LEAST_RESULT: u64 = 160;
/// To how many bytes any other message is shortened before one is left out.
const LEAST_OTHER: u64 = 320;
const PLACE: &str = "the rest was left out";

/// The messages as text of at most `room` tokens, by the plain estimate.
pub(crate) fn rendered(entries: &[&TranscriptEntry], room: u64) -> String {
    let bytes = room.saturating_mul(4);
    let caps = Caps::within(entries, bytes);
    let (first, rest) = caps.kept(entries, bytes);
    let mut text = String::new();
    entries[..first].iter().for_each(|entry| caps.write(entry, &mut text));
    if first < rest {
        let _ = writeln!(text, "[{} messages were left out here]\n", rest - first);
    }
    entries[rest..].iter().for_each(|entry| caps.write(entry, &mut text));
    within(text, room)
}

/// The text, cut in its middle when it has more than `room` tokens by the plain estimate.
pub(crate) fn within(text: String, room: u64) -> String {
    if estimate_text_tokens(&text) <= room {
        return text;
    }
    let bytes = usize::try_from(room.saturating_mul(4)).unwrap_or(usize::MAX);
    let cut = cut_middle(&text, bytes, PLACE);
    match cut.len() <= bytes {
        true => cut,
        // There is not even room for the note.
        false => text[..text.floor_char_boundary(bytes)].to_owned(),
    }
}

/// To how many bytes messages are shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Caps {
    result: u64,
    other: u64,
}

impl Caps {
    fn within(entries: &[&TranscriptEntry], bytes: u64) -> Self {
        let sizes = |results: bool| {
            let of_kind = move |entry: &&&TranscriptEntry| is_result(entry) == results;
            entries.iter().filter(of_kind).map(|entry| size(entry))
        };
        let others = sizes(false).fold(0, u64::saturating_add);
        if let Some(result) = cap(|| sizes(true), bytes.saturating_sub(others), LEAST_RESULT) {
            return Self { result, other: u64::MAX };
        }
        let results = sizes(true).map(|size| size.min(LEAST_RESULT)).fold(0, u64::saturating_add);
        let other = cap(|| sizes(false), bytes.saturating_sub(results), LEAST_OTHER);
        Self { result: LEAST_RESULT, other: other.unwrap_or(LEAST_OTHER) }
    }

    fn of(&self, entry: &TranscriptEntry) -> u64 {
        match is_result(entry) {
            true => self.result,
            false => self.other,
        }
    }

    /// How many of the oldest are written, and from where on the newest are: a quarter of the room
    /// is for the former.
    fn kept(&self, entries: &[&TranscriptEntry], bytes: u64) -> (usize, usize) {
        let size = |entry: &TranscriptEntry| size(entry).min(self.of(entry));
        let total = entries.iter().map(|entry| size(entry)).fold(0, u64::saturating_add);
        if total <= bytes {
            return (entries.len(), entries.len());
        }
        let first = entries.iter().scan(bytes / 4, |room, entry| take(room, size(entry))).count();
        let newest = entries[first..].iter().rev();
        let last = newest.scan(bytes - bytes / 4, |room, entry| take(room, size(entry))).count();
        (first, entries.len() - last)
    }

    fn write(&self, entry: &TranscriptEntry, text: &mut String) {
        let cap = usize::try_from(self.of(entry).saturating_sub(FRAME_BYTES)).unwrap_or(usize::MAX);
        entry.show(|message| write_message(message, cap, text));
    }
}

fn take(room: &mut u64, size: u64) -> Option<()> {
    *room = room.checked_sub(size)?;
    Some(())
}

/// The greatest cap, at least `least`, with which all sizes together are at most `room`.
fn cap<I: Iterator<Item = u64>>(sizes: impl Fn() -> I, room: u64, least: u64) -> Option<u64> {
    let fits = |cap: u64| sizes().map(|size| size.min(cap)).fold(0, u64::saturating_add) <= room;
    let (mut low, mut high) = (least, sizes().max().unwrap_or(least).max(least));
    if fits(high) {
        return Some(u64::MAX);
    }
    if !fits(low) {
        return None;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(low)
}

fn is_result(entry: &TranscriptEntry) -> bool {
    entry.role() == ModelRole::Tool
}

/// About how many bytes it takes; more than it does when it holds a picture.
fn size(entry: &TranscriptEntry) -> u64 {
    entry.estimated_tokens().saturating_mul(4).saturating_add(FRAME_BYTES)
}

fn write_message(message: &ModelMessage, cap: usize, text: &mut String) {
    let mut left = cap;
    for item in &message.content {
        let before = text.len();
        write_item(message.role, item, left, text);
        left = left.saturating_sub(text.len() - before);
    }
}

fn write_item(role: ModelRole, item: &ModelContent, cap: usize, text: &mut String) {
    // A string takes whatever is written to it.
    let _ = match item {
        ModelContent::Text { text: said } => {
            writeln!(text, "[{}]\n{}\n", speaker(role), cut_middle(said, cap, PLACE))
        }
        ModelContent::ToolUse { name, arguments, .. } => {
            let arguments = cut_middle(&arguments.to_string(), cap, PLACE);
            writeln!(text, "[assistant calls {name}]\n{arguments}\n")
        }
        ModelContent::ToolResult { name, content, failed, .. } => {
            let what = if *failed { "failure" } else { "result" };
            writeln!(text, "[{what} of {name}]\n{}\n", cut_middle(content, cap, PLACE))
        }
        ModelContent::Image { .. } => writeln!(text, "[{}: a picture]\n", speaker(role)),
        ModelContent::Reasoning { .. } => Ok(()),
    };
}

const fn speaker(role: ModelRole) -> &'static str {
    match role {
        ModelRole::System => "application",
        ModelRole::User => "user",
        ModelRole::Assistant => "assistant",
        ModelRole::Tool => "tool",
    }
}
