//! A model session over the Gemini API: `streamGenerateContent` and `generateContent`.
//!
//! Knows that wire format, what its model families accept, and how its answers end. Refuses to know
//! who asks, what a tool does, which other servers exist, and when to try again: it sends a request
//! once and tells the truth about it. Wire shapes are private; what crosses the border are the
//! values of `runtime-ports`.
//!
//! What happens between a request and the bytes of its answer is `model-wire`'s.
//!
//! | file | decides |
//! |---|---|
//! | `session` | how a call becomes a request |
//! | `families` | what a family of models is taken to accept |
//! | `encode`, `contents` | how messages are written, each message once |
//! | `options` | how everything else of a request is written, and what is refused |
//! | `stream`, `parts` | what an answer says |
//! | `metering` | which counts are true |

mod builder;
mod contents;
mod decoding;
mod encode;
mod families;
mod metering;
mod models;
mod options;
mod parts;
#[cfg(test)]
mod rehearsal;
mod session;
mod spelling;
mod stream;
mod verbatim;

pub use builder::GeminiSessionBuilder;
pub use decoding::decoder;
pub use model_wire::{BuildError, Delivery, Recorder, Replay, Tape, TapeError, Timeouts};
pub use session::GeminiSession;
