//! Decides how the decoder of answers is reached without a network.
//!
//! Knows nothing about connections. For recordings that are read again, and for tests and fuzzing:
//! a session makes its decoders itself.

use model_wire::Decoder;

use crate::stream::GeminiStream;

/// A decoder of one answer of which nothing has arrived yet.
///
/// `issuer` is stamped on what only its provider can read; `seed` is what identities are made from
/// for calls that came without one, so that two seeds never give the same.
///
/// # Examples
/// ```
/// use gemini_adapter::decoder;
/// use model_wire::Reader;
/// use runtime_ports::{DiscardDeltas, ModelFinish};
///
/// let mut reader = Reader::new(decoder("house", "invocation-1"), 1 << 20);
/// let stream = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n";
/// reader.feed(stream.as_bytes(), &DiscardDeltas).unwrap();
/// assert_eq!(reader.finish(&DiscardDeltas).unwrap().finish, ModelFinish::Stop);
/// ```
#[must_use]
pub fn decoder(issuer: &str, seed: &str) -> Box<dyn Decoder> {
    Box::new(GeminiStream::new(issuer, seed))
}
