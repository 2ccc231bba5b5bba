//! What happens on the wire: silence, cuts, slow servers, refused features, redirects, echoes.
//!
//! Real sockets, so real time: every timeout here is a fraction of a second.

#[path = "wire/arrivals.rs"]
mod arrivals;
#[path = "wire/continuing.rs"]
mod continuing;
#[path = "wire/ends.rs"]
mod ends;
#[path = "wire/families.rs"]
mod families;
#[path = "wire/features.rs"]
mod features;
#[path = "wire/secrets.rs"]
mod secrets;
#[path = "wire/transport.rs"]
mod transport;

use std::{sync::Arc, time::Duration};

use openai_adapter::{Api, OpenAiSession, OpenAiSessionBuilder, Timeouts};
use runtime_ports::{
    CommitDisposition, ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole,
    ModelSession, OperationContext, PortFailure, ToolSet, Transcript,
};
use runtime_types::{CredentialHandle, ExecutionId, OperationId};
use wire_rehearsal::loopback::{Act, Loopback, events};

const KEY: &str = "canary-key-5f1c";

/// Short patience everywhere: 300 milliseconds.
const SHORT: Duration = Duration::from_millis(300);

fn builder(server: &Loopback) -> OpenAiSessionBuilder {
    let timeouts = Timeouts { connect: SHORT, head: SHORT, idle: SHORT, tail: SHORT };
    OpenAiSession::builder(server.base_url())
        .credential(CredentialHandle::new(KEY))
        .timeouts(timeouts)
}

fn operation(limit: Duration) -> OperationContext {
    let (id, execution) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    OperationContext::root(OperationId::from(id), ExecutionId::from(execution), limit)
}

fn request() -> ModelRequest {
    ModelRequest {
        invocation_id: "invocation".into(),
        model: "model".into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, "prompt-canary")]),
        tools: ToolSet::default(),
        max_output_tokens: Some(9),
        options: Arc::default(),
    }
}

async fn ask(session: &OpenAiSession) -> Result<ModelResponse, PortFailure> {
    session.invoke(&operation(Duration::from_secs(20)), request()).await
}

/// Plays `acts` for one chat request and gives the outcome in a line.
async fn outcome(acts: Vec<Act>) -> String {
    outcome_of(Api::Chat, acts).await
}

async fn outcome_of(api: Api, acts: Vec<Act>) -> String {
    let server = Loopback::start(vec![acts]).await;
    let session = builder(&server).api(api).build().expect("a session");
    line(&ask(&session).await)
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

const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
const DONE: &str = "[DONE]";

fn whole() -> Vec<u8> {
    events(&[HI, STOP, USAGE, DONE])
}
