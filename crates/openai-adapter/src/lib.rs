//! A model session over Chat Completions and over Responses, for any server that speaks them.
//!
//! Knows the two wire formats, the many ways in which servers depart from them, and what a broken
//! connection says about the fate of a request. Refuses to know who asks, what a tool does, which
//! other servers exist, and when to try again: it sends a request once and tells the truth about
//! it. Wire shapes are private; what crosses the border are the values of `runtime-ports`.
//!
//! What happens between a request and the bytes of its answer is `model-wire`'s.
//!
//! | file | decides |
//! |---|---|
//! | `session` | how a call becomes requests |
//! | `server_profile`, `features` | how a server departs from the API, and what it turned out not to know |
//! | `profile` | what the writing of one request depends on |
//! | `demands` | how what is demanded of an answer is met by a server that takes less |
//! | `context` | whether a prompt was read whole |
//! | `history`, `continued` | in which form each message is written, and which of them the server has |
//! | `chat/encode`, `responses/encode` | how a request is written, each message once |
//! | `chat/stream`, `responses/stream` | what an answer says |
//! | `metering` | which counts are true |

mod builder;
mod chat;
mod content;
mod context;
mod continued;
mod decoding;
mod demands;
mod features;
mod frames;
mod history;
mod metering;
mod profile;
#[cfg(test)]
mod rehearsal;
mod responses;
mod server_profile;
mod session;

pub use builder::OpenAiSessionBuilder;
pub use decoding::{decoder, decoder_for};
pub use model_wire::{BuildError, Delivery, Recorder, Replay, Tape, TapeError, Timeouts};
pub use profile::{Api, MaxTokensField};
pub use server_profile::{
    AnswerForms, InstructionsRole, PROFILE_VERSION, PartCount, ProfileError, ReasoningReplay,
    ResultImages, ServerProfile, StrictSchemas, SystemMessages, ThinkTags, ToolCallIds,
    ToolChoices,
};
pub use session::OpenAiSession;
