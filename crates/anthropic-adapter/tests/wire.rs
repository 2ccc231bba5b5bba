//! What happens on the wire: silence, cuts, slow servers, refusals, redirects, echoes.
//!
//! Real sockets, so real time: every timeout here is a fraction of a second.

#[path = "wire/ends.rs"]
mod ends;
#[path = "wire/headers.rs"]
mod headers;
#[path = "wire/refusals.rs"]
mod refusals;
#[path = "wire/subject.rs"]
mod subject;
#[path = "wire/transport.rs"]
mod transport;

use std::time::Duration;

use anthropic_adapter::{AnthropicSession, AnthropicSessionBuilder};
use runtime_ports::{
    ModelMessage, ModelRequest, ModelResponse, ModelSession, PortFailure, Transcript,
};
use runtime_types::CredentialHandle;
use wire_rehearsal::{
    asking::{self, KEY, SHORT, SHORT_TIMEOUTS, line, operation, text},
    loopback::{Act, Loopback},
};

fn builder(server: &Loopback) -> AnthropicSessionBuilder {
    AnthropicSession::builder(server.base_url())
        .credential(CredentialHandle::new(KEY))
        .timeouts(SHORT_TIMEOUTS)
}

fn session(server: &Loopback) -> AnthropicSession {
    builder(server).build().expect("a session")
}

/// For a model of a family that has its limits.
fn request() -> ModelRequest {
    ModelRequest { model: "claude-haiku-4-5".into(), ..asking::request() }
}

fn asking(messages: Vec<ModelMessage>) -> ModelRequest {
    ModelRequest { messages: Transcript::from(messages), ..request() }
}

async fn ask(session: &AnthropicSession) -> Result<ModelResponse, PortFailure> {
    session.invoke(&operation(Duration::from_secs(20)), request()).await
}

/// Plays `acts` for one request and gives the outcome in a line.
async fn outcome(acts: Vec<Act>) -> String {
    let server = Loopback::start(vec![acts]).await;
    line(&ask(&session(&server)).await)
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_7","usage":{"input_tokens":3,"output_tokens":1}}}"#;
const HI: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#;
const REASON: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const PING: &str = r#"{"type":"ping"}"#;

fn whole() -> Vec<u8> {
    subject::WORDS.whole()
}

mod messages {
    wire_rehearsal::wire_rules!(super::subject::Messages);
}
