//! A model session over Anthropic's Messages API, for any server that speaks it.
//!
//! Knows the wire format, the rules that the API has for a history, the ways in which servers
//! depart from both, and what a broken answer says about the fate of a request. Refuses to know who
//! asks, what a tool does, which other servers exist, and when to try again: it sends a request once
//! and tells the truth about it. Wire shapes are private; what crosses the border are the values of
//! `runtime-ports`.
//!
//! What happens between a request and the bytes of its answer is `model-wire`'s.
//!
//! | file | decides |
//! |---|---|
//! | `session` | how a call becomes requests |
//! | `refused` | what a server is not sent again |
//! | `encode`, `ids` | how a message is written, once |
//! | `body` | how messages become turns, and where a prompt cache may end |
//! | `options`, `standing`, `family` | what can be asked of which model |
//! | `stream`, `block`, `delta` | what an answer says |
//! | `metering` | which counts are true |

mod block;
mod body;
mod builder;
mod decoding;
mod delta;
mod encode;
mod family;
mod ids;
mod metering;
mod models;
mod options;
mod refused;
#[cfg(test)]
mod rehearsal;
mod session;
mod standing;
mod stream;
mod verbatim;

pub use builder::{AnthropicSessionBuilder, PromptCache};
pub use decoding::decoder;
pub use family::{ModelFamily, Reasoning, Temperature, Unasked};
pub use model_wire::{BuildError, Delivery, Recorder, Replay, Tape, TapeError, Timeouts};
pub use session::AnthropicSession;
pub use standing::ThinkingDisplay;
