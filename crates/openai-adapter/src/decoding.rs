//! Decides how the decoders of answers are reached without a network.
//!
//! Knows nothing about connections. For recordings that are read again, and for tests and fuzzing:
//! a session makes its decoders itself.

use model_wire::Decoder;

use crate::{chat::ChatStream, profile::Api, responses::ResponsesStream};

/// A decoder of one answer of `api`, of which nothing has arrived yet.
///
/// `issuer` is stamped on reasoning that only its provider can read; `seed` is what identities are
/// made from for calls that came without one, so that two seeds never give the same.
///
/// # Examples
/// ```
/// use model_wire::Reader;
/// use openai_adapter::{Api, decoder};
/// use runtime_ports::{DiscardDeltas, ModelFinish};
///
/// let mut reader = Reader::new(decoder(Api::Chat, "house", "invocation-1"), 1 << 20);
/// let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
/// reader.feed(stream.as_bytes(), &DiscardDeltas).unwrap();
/// assert_eq!(reader.finish(&DiscardDeltas).unwrap().finish, ModelFinish::Stop);
/// ```
#[must_use]
pub fn decoder(api: Api, issuer: &str, seed: &str) -> Box<dyn Decoder> {
    match api {
        Api::Chat => Box::new(ChatStream::new(issuer, seed)),
        Api::Responses => Box::new(ResponsesStream::new(issuer, seed)),
    }
}
