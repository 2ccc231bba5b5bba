//! Decides what the parts of an input are that a mutation moves as a whole: events, and values of
//! JSON.
//!
//! Crude on purpose: an input need not be well formed.

use std::ops::Range;

/// The input in pieces that each end with an empty line.
pub(crate) fn events(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut rest = bytes;
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
        let (event, after) = rest.split_at(end + 2);
        events.push(event.to_vec());
        rest = after;
    }
    if !rest.is_empty() {
        events.push(rest.to_vec());
    }
    events
}

/// Where the values of JSON fields stand, without their `"name":`.
pub(crate) fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    let starts = bytes.windows(2).enumerate().filter(|(_, pair)| *pair == b"\":");
    starts.map(|(at, _)| at + 2..end_of_value(bytes, at + 2)).collect()
}

/// Where the names of JSON fields stand, without their quotes.
pub(crate) fn names(bytes: &[u8]) -> Vec<Range<usize>> {
    let ends = bytes.windows(2).enumerate().filter(|(_, pair)| *pair == b"\":");
    ends.filter_map(|(end, _)| {
        let start = bytes[..end].iter().rposition(|byte| *byte == b'"')? + 1;
        Some(start..end)
    })
    .collect()
}

fn end_of_value(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match (in_text, byte) {
            _ if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']' | b',') if depth == 0 => return at,
            (false, b'}' | b']') => depth -= 1,
            (_, b'\n') => return at,
            _ => {}
        }
    }
    bytes.len()
}
