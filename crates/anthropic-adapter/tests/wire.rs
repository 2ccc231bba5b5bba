//! What happens on the wire: silence, cuts, slow servers, refusals, redirects, echoes.
//!
//! Real sockets, so real time: every timeout here is a fraction of a second.

#[path = "wire/ends.rs"]
mod ends;
#[path = "wire/refusals.rs"]
mod refusals;
#[path = "wire/secrets.rs"]
mod secrets;
#[path = "wire/transport.rs"]
mod transport;

use std::{sync::Arc, time::Duration};

use anthropic_adapter::{AnthropicSession, AnthropicSessionBuilder, Timeouts};
use runtime_ports::{
    CommitDisposition, ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole,
    ModelSession, OperationContext, PortFailure, ToolSet, Transcript,
};
use runtime_types::{CredentialHandle, ExecutionId, OperationId};
use wire_rehearsal::loopback::{Act, Loopback, events};

const KEY: &str = "canary-key-5f1c";

/// Short patience everywhere: 300 milliseconds.
const SHORT: Duration = Duration::from_millis(300);

fn builder(server: &Loopback) -> AnthropicSessionBuilder {
    let timeouts = Timeouts { connect: SHORT, head: SHORT, idle: SHORT, tail: SHORT };
    AnthropicSession::builder(server.base_url())
        .credential(CredentialHandle::new(KEY))
        .timeouts(timeouts)
}

fn session(server: &Loopback) -> AnthropicSession {
    builder(server).build().expect("a session")
}

fn operation(limit: Duration) -> OperationContext {
    let (id, execution) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    OperationContext::root(OperationId::from(id), ExecutionId::from(execution), limit)
}

fn request() -> ModelRequest {
    asking(vec![ModelMessage::text(ModelRole::User, "prompt-canary")])
}

fn asking(messages: Vec<ModelMessage>) -> ModelRequest {
    ModelRequest {
        invocation_id: "invocation".into(),
        model: "claude-haiku-4-5".into(),
        messages: Transcript::from(messages),
        tools: ToolSet::default(),
        max_output_tokens: Some(9),
        options: Arc::default(),
    }
}

async fn ask(session: &AnthropicSession) -> Result<ModelResponse, PortFailure> {
    session.invoke(&operation(Duration::from_secs(20)), request()).await
}

/// Plays `acts` for one request and gives the outcome in a line.
async fn outcome(acts: Vec<Act>) -> String {
    let server = Loopback::start(vec![acts]).await;
    line(&ask(&session(&server)).await)
}

fn line(outcome: &Result<ModelResponse, PortFailure>) -> String {
    match outcome {
        Ok(response) => format!("{:?} {}", response.finish, text(response)),
        Err(failure) => {
            let commit = match failure.commit {
                CommitDisposition::NotCommitted => "not committed",
                CommitDisposition::Committed => "committed",
                CommitDisposition::Unknown => "unknown",
            };
            let ends: Vec<_> = failure.attempts.iter().map(|meter| meter.end).collect();
            format!("{:?} {} {commit} {ends:?}", failure.kind, failure.code)
        }
    }
}

fn text(response: &ModelResponse) -> String {
    let texts = response.output.iter().filter_map(|content| match content {
        ModelContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_7","usage":{"input_tokens":3,"output_tokens":1}}}"#;
const HI: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#;
const REASON: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const PING: &str = r#"{"type":"ping"}"#;

fn whole() -> Vec<u8> {
    events(&[START, HI, REASON, STOP])
}
