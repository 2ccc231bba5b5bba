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
#[path = "wire/headers.rs"]
mod headers;
#[path = "wire/subject.rs"]
mod subject;
#[path = "wire/transport.rs"]
mod transport;

use openai_adapter::{Api, OpenAiSession, OpenAiSessionBuilder};
use runtime_types::CredentialHandle;
use wire_rehearsal::{
    asking::{KEY, SHORT, SHORT_TIMEOUTS, ask, line, operation, request, text},
    loopback::{Act, Loopback},
};

fn builder(server: &Loopback) -> OpenAiSessionBuilder {
    OpenAiSession::builder(server.base_url())
        .credential(CredentialHandle::new(KEY))
        .timeouts(SHORT_TIMEOUTS)
}

fn session(server: &Loopback) -> OpenAiSession {
    builder(server).build().expect("a session")
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

const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
const DONE: &str = "[DONE]";

fn whole() -> Vec<u8> {
    subject::CHAT.whole()
}

mod chat {
    use super::{Api, subject::Speaking};

    wire_rehearsal::wire_rules!(Speaking(Api::Chat));
}

mod responses {
    use super::{Api, subject::Speaking};

    wire_rehearsal::wire_rules!(Speaking(Api::Responses));
}
