//! What happens on the wire: silence, cuts, slow servers, refusals, redirects, echoes.
//!
//! Real sockets, so real time: every timeout here is a fraction of a second.

#[path = "wire/ends.rs"]
mod ends;
#[path = "wire/requests.rs"]
mod requests;
#[path = "wire/secrets.rs"]
mod secrets;
#[path = "wire/subject.rs"]
mod subject;

use gemini_adapter::{Delivery, GeminiSession, GeminiSessionBuilder};
use runtime_types::CredentialHandle;
use wire_rehearsal::{
    asking::{KEY, SHORT, SHORT_TIMEOUTS, ask, line, operation, request, text},
    loopback::{Act, Loopback},
};

fn builder(server: &Loopback) -> GeminiSessionBuilder {
    GeminiSession::builder(server.base_url())
        .credential(CredentialHandle::new(KEY))
        .timeouts(SHORT_TIMEOUTS)
}

fn session(server: &Loopback) -> GeminiSession {
    builder(server).build().expect("a session")
}

/// Plays `acts` for one request and gives the outcome in a line.
async fn outcome(acts: Vec<Act>) -> String {
    let server = Loopback::start(vec![acts]).await;
    line(&ask(&session(&server)).await)
}

const HI: &str = r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}"#;
const STOP: &str = r#"{"candidates":[{"finishReason":"STOP"}]}"#;
const USAGE: &str = r#"{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}"#;

mod streamed {
    use super::{Delivery, subject::Asking};

    wire_rehearsal::wire_rules!(Asking(Delivery::Streamed));
}

mod whole {
    use super::{Delivery, subject::Asking};

    wire_rehearsal::wire_rules!(Asking(Delivery::Whole));
}
