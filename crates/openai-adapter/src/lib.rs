//! A model session over Chat Completions and over Responses, for any server that speaks them.
//!
//! Knows the two wire formats, the many ways in which servers depart from them, and what a broken
//! connection says about the fate of a request. Refuses to know who asks, what a tool does, which
//! other servers exist, and when to try again: it sends a request once and tells the truth about
//! it. Wire shapes are private; what crosses the border are the values of `runtime-ports`.
//!
//! | file | decides |
//! |---|---|
//! | `session` | how a call becomes requests |
//! | `exchange`, `client`, `connection` | how a request goes over the wire, and what a break means |
//! | `pieces`, `chat/encode`, `responses/encode` | how a request is written, each message once |
//! | `sse`, `reader`, `json` | what the bytes of an answer are |
//! | `chat/stream`, `responses/stream` | what an answer says |
//! | `arguments` | whether a tool call is whole |
//! | `metering` | which counts are true |
//! | `failure`, `refusal`, `wording`, `retry_after`, `features` | what a refusal means |

mod answer;
mod arguments;
mod builder;
mod chat;
mod client;
mod connection;
mod content;
mod exchange;
mod failure;
mod features;
mod json;
mod metering;
mod minted;
mod models;
mod pieces;
mod profile;
mod reader;
mod refusal;
#[cfg(test)]
mod rehearsal;
mod responses;
mod retry_after;
mod sent_body;
mod session;
mod sse;
mod tls;
mod wording;

pub use builder::{BuildError, OpenAiSessionBuilder};
pub use profile::{Api, Delivery, MaxTokensField, Timeouts};
pub use session::OpenAiSession;
