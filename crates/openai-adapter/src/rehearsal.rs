//! Plays bytes that a server could send through the decoder of an API.
//!
//! For tests.

mod captures;
mod harmless;

use std::sync::LazyLock;

use model_wire::Decoder;
pub(crate) use wire_rehearsal::{PIECES, Played, events};

use crate::{profile::Api, server_profile::ServerProfile};

/// The lenient profile.
pub(crate) fn lenient() -> &'static ServerProfile {
    static LENIENT: LazyLock<ServerProfile> = LazyLock::new(ServerProfile::default);
    &LENIENT
}

/// A decoder of an answer of which nothing has arrived.
pub(crate) fn decoder(api: Api) -> Box<dyn Decoder> {
    crate::decoder(api, "issuer", "seed")
}

/// Plays `bytes` in pieces of `size`.
pub(crate) fn play(api: Api, bytes: &[u8], size: usize) -> Played {
    wire_rehearsal::play(decoder(api), bytes, size)
}

/// Plays `bytes` in pieces of every size and expects the same line each time.
pub(crate) fn check(api: Api, name: &str, bytes: &[u8], expected: &str) {
    wire_rehearsal::check(|| decoder(api), name, bytes, expected);
}
