//! Decides which bytes a decoder is tried with so that none does harm, and what must be true of an
//! answer whatever they were.
//!
//! Knows no API: streams to spoil and frames to mix are the caller's.

use std::collections::BTreeSet;

use model_wire::{Answer, Decoder, Progress, Reader};
use proptest::{collection::vec, prelude::*, sample::Index};
use runtime_ports::{DiscardDeltas, ModelContent, PortFailure};

use crate::playing::{PIECES, events, play};

/// Reads `bytes` in pieces of 50, through a reader that takes at most `limit` bytes an event.
///
/// # Errors
/// Those of the reader and its decoder.
pub fn read(decoder: Box<dyn Decoder>, bytes: &[u8], limit: usize) -> Result<Answer, PortFailure> {
    let mut reader = Reader::new(decoder, limit);
    for piece in bytes.chunks(50) {
        if reader.feed(piece, &DiscardDeltas)?.progress == Progress::Over {
            break;
        }
    }
    reader.finish(&DiscardDeltas)
}

/// What [`read`] comes to: the code of a failure, or the reason to stop.
#[must_use]
pub fn code(decoder: Box<dyn Decoder>, bytes: &[u8], limit: usize) -> String {
    read(decoder, bytes, limit)
        .map_or_else(|failure| failure.code, |answer| format!("{:?}", answer.finish))
}

/// Expects the same of `bytes` in pieces of every size; and if they are an answer, that it `holds`.
///
/// # Panics
/// When the size of the pieces matters, and when `holds` does.
pub fn tried(decoder: impl Fn() -> Box<dyn Decoder>, bytes: &[u8], holds: impl Fn(&Answer)) {
    let whole = play(decoder(), bytes, usize::MAX);
    for size in PIECES {
        assert_eq!(play(decoder(), bytes, size), whole, "in pieces of {size}");
    }
    if let Ok(answer) = read(decoder(), bytes, 1024 * 1024) {
        holds(&answer);
    }
}

/// The identity and the name of each call of an answer: identities are there, and each is another.
///
/// # Panics
/// When an identity is empty or there twice.
#[must_use]
pub fn calls(answer: &Answer) -> Vec<(&str, &str)> {
    let calls = answer.output.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, .. } => Some((id.as_str(), name.as_str())),
        _ => None,
    });
    let calls: Vec<(&str, &str)> = calls.collect();
    let distinct: BTreeSet<_> = calls.iter().map(|(id, _)| id).collect();
    assert_eq!(distinct.len(), calls.len(), "an id twice");
    assert!(calls.iter().all(|(id, _)| !id.is_empty()), "an empty id");
    calls
}

/// Up to 299 bytes of any kind.
pub fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..300)
}

/// Ways to spoil bytes: overwrite, remove, or repeat a part.
pub fn spoilt(bytes: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<Index>(), 1usize..40, any::<u8>(), 0u8..3);
    vec(change, 1..8).prop_map(move |changes| {
        let mut bytes = bytes.to_vec();
        for (at, length, byte, how) in changes {
            let start = at.index(bytes.len().max(1)).min(bytes.len());
            let end = (start + length).min(bytes.len());
            match how {
                0 if start < bytes.len() => bytes[start] = byte,
                1 => drop(bytes.drain(start..end)),
                _ => {
                    let part = bytes[start..end].to_vec();
                    drop(bytes.splice(start..start, part));
                }
            }
        }
        bytes
    })
}

/// A stream of fewer than `most` of these frames.
pub fn streamed(
    frame: impl Strategy<Value = String>,
    most: usize,
) -> impl Strategy<Value = Vec<u8>> {
    vec(frame, 0..most).prop_map(|frames| events(&frames))
}
