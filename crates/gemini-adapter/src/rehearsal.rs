//! Plays bytes that a server could send through the decoder.
//!
//! For tests.

mod captures;
mod harmless;
mod roundtrip;

pub(crate) use wire_rehearsal::events;

/// A decoder of an answer of which nothing has arrived.
pub(crate) fn decoder() -> Box<dyn model_wire::Decoder> {
    crate::decoder("issuer", "seed")
}

/// Plays `bytes` in pieces of every size and expects the same line each time.
pub(crate) fn check(name: &str, bytes: &[u8], expected: &str) {
    wire_rehearsal::check(decoder, name, bytes, expected);
}
