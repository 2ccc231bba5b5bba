//! Test support for model adapters: a server of scripted bytes, and streams played through a
//! decoder in pieces of every size.
//!
//! Knows HTTP/1.1 as far as a test needs it, and the values that cross a decoder. Refuses to know
//! any vendor's API. No crate depends on it but in its tests.

pub mod loopback;
mod playing;

pub use playing::{PIECES, Played, check, events, play};
