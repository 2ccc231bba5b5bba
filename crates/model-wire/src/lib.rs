//! One exchange with a model server: what every adapter of a vendor shares.
//!
//! Knows how a request goes over HTTP, what the bytes of its answer are, what a broken connection
//! or a refusal says about the fate of the request, and how a tool call's arguments become whole.
//! Refuses to know any vendor's message format, who asks, and when to try again: a request is sent
//! once, and the truth is told about it. An adapter brings the encoding of its requests, and a
//! [`Decoder`] of its answers.
//!
//! | module | decides |
//! |---|---|
//! | `endpoint`, `client`, `tls` | which server is talked to, and that it is safe |
//! | `exchange`, `document`, `response`, `connection`, `sent_body` | how a request goes over the wire, and what a break means |
//! | `heads` | which headers of an answer are read |
//! | `listing` | which models a server lists |
//! | `waiting`, `arrivals`, `gathered` | how long bytes are waited for, and which deltas are handed on together |
//! | `tape` | how what is said is kept, and played back |
//! | `delivery`, `profiles` | what a session was built with, whatever the vendor |
//! | `again` | whether a call may send one more request |
//! | `pieces` | how a body is put together, each message written once |
//! | `raw` | how an answer is looked at as it is |
//! | `sse`, `reader`, `json`, `verbatim` | what the bytes of an answer are |
//! | `answer` | what a decoder takes and gives |
//! | `arguments`, `told`, `minted` | whether a tool call is whole, and what it is called |
//! | `metering` | which counts are true |
//! | `failure`, `refusal`, `details`, `wording`, `retry_after` | what a refusal means |

mod again;
pub mod answer;
pub mod arguments;
mod arrivals;
mod client;
mod connection;
mod delivery;
mod details;
mod document;
mod endpoint;
mod exchange;
pub mod failure;
mod gathered;
mod heads;
pub mod json;
mod listing;
pub mod metering;
mod minted;
pub mod pieces;
mod profiles;
mod raw;
mod reader;
mod refusal;
mod response;
mod retry_after;
mod sent_body;
mod sse;
mod tape;
mod tls;
mod told;
mod verbatim;
mod waiting;
mod wording;

pub use again::may_send_again;
pub use answer::{Answer, Decoder, Ending, Progress};
pub use client::HttpClient;
pub use delivery::Delivery;
pub use endpoint::{BuildError, Endpoint, KeyHeader, Timeouts};
pub use exchange::{Answered, Exchange, Failed};
pub use listing::{Page, model_names};
pub use metering::Meter;
pub use minted::minted;
pub use profiles::Profiles;
pub use raw::{HangUp, RawAnswer, RawChunk, RawEnd};
pub use reader::{Fed, Reader};
pub use refusal::Refusal;
pub use retry_after::wait_of_headers;
pub use sse::{Event, Framer, TooLarge};
pub use tape::{Recorder, Replay, Tape, TapeError};
pub use verbatim::Place;
pub use wording::Size;
