//! Decides how the decoder of an answer is reached without a network.
//!
//! Knows nothing about connections. For recordings that are read again, and for tests and fuzzing:
//! a session makes its decoders itself.

use model_wire::Decoder;

use crate::{body::Marks, builder::PromptCache, stream::MessageStream};

/// A decoder of one answer, of which nothing has arrived yet.
///
/// `cache` says what the request asked for, since it decides what a missing count means. `issuer`
/// is stamped on reasoning that only its provider can read; `seed` is what identities are made from
/// for calls that came without one, so that two seeds never give the same.
///
/// # Examples
/// ```
/// use anthropic_adapter::{PromptCache, decoder};
/// use model_wire::Reader;
/// use runtime_ports::{DiscardDeltas, ModelFinish};
///
/// let mut reader = Reader::new(decoder(PromptCache::Marked, "house", "invocation-1"), 1 << 20);
/// let document = r#"{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#;
/// reader.feed(document.as_bytes(), &DiscardDeltas).unwrap();
/// assert_eq!(reader.finish(&DiscardDeltas).unwrap().finish, ModelFinish::Stop);
/// ```
#[must_use]
pub fn decoder(cache: PromptCache, issuer: &str, seed: &str) -> Box<dyn Decoder> {
    let marks = match cache {
        PromptCache::Marked => Marks::Set,
        PromptCache::Off => Marks::Left,
    };
    Box::new(MessageStream::new(issuer, seed, marks))
}
