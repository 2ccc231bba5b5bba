//! Decides how the decoders of answers are reached without a network.
//!
//! Knows nothing about connections. For recordings that are read again, and for tests and fuzzing:
//! a session makes its decoders itself.

use model_wire::Decoder;

use crate::{
    chat::ChatStream,
    profile::{Api, Reading},
    responses::ResponsesStream,
    server_profile::ServerProfile,
};

/// A decoder of one answer of `api` from a server of which nothing is known; nothing of the answer
/// has arrived yet.
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
    decoder_for(api, issuer, seed, &ServerProfile::default())
}

/// The same, of a server with a profile.
#[must_use]
pub fn decoder_for(api: Api, issuer: &str, seed: &str, server: &ServerProfile) -> Box<dyn Decoder> {
    let reading = Reading::of(server);
    match api {
        Api::Chat => Box::new(ChatStream::new(issuer, seed, reading)),
        Api::Responses => Box::new(ResponsesStream::new(issuer, seed, reading)),
    }
}
