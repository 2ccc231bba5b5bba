//! Test support for model adapters: a server of scripted bytes, the provider of the conformance
//! suite over it, and streams played through a decoder in pieces of every size.
//!
//! Knows HTTP/1.1 as far as a test needs it, the values that cross a decoder, and what each model
//! adapter must hold whatever API it speaks. Refuses to know any vendor's API. No crate depends on
//! it but in its tests.
//!
//! # For the author of an adapter
//!
//! What is yours to say is how your API is spoken; what must hold is here.
//!
//! - The port: say in a [`provider::Adapter`] how answers and refusals are spoken and how a session
//!   is built, and give [`provider::Rehearsed`] to `port_conformance::model_conformance!`.
//! - The wire: say in a [`subject::Subject`] how a session is built and what a short answer is, and
//!   give it to [`wire_rules!`]. If you leave out what a server refuses, add [`rules::again`]. What
//!   is your API's alone is scripted with [`loopback`] and [`asking`].
//! - The decoder: [`check`] plays a stream in pieces of every size, [`recorded`] does so with a
//!   folder of recordings, and [`harmless`] makes bytes that should do no harm.
//! - Recordings: [`tapes`] records conversations, and replays those that are kept.

pub mod asking;
pub mod harmless;
pub mod loopback;
mod playing;
pub mod provider;
pub mod recorded;
pub mod rules;
pub mod subject;
pub mod tapes;

pub use playing::{PIECES, Played, check, events, play};
