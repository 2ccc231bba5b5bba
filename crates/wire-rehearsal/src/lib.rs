//! Test support for model adapters: a server of scripted bytes, the provider of the conformance
//! suite over it, and streams played through a decoder in pieces of every size.
//!
//! Knows HTTP/1.1 as far as a test needs it, the values that cross a decoder, and what each model
//! adapter must hold whatever API it speaks. Refuses to know any vendor's API. No crate depends on
//! it but in its tests.

pub mod asking;
pub mod connections;
pub mod harmless;
pub mod loopback;
mod playing;
pub mod provider;
pub mod secrets;

pub use playing::{PIECES, Played, check, events, play};
