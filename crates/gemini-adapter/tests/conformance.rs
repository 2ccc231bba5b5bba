//! Streamed and whole, the session holds every promise of a model session over real TCP.
//!
//! Knows the wire only to play a provider: what must hold is the suite's.

mod spoken;

use gemini_adapter::{BuildError, Delivery, GeminiSession};
use port_conformance::model::{Answer, ModelCapabilities, Refusal};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;
use serde_json::{Value, json};
use wire_rehearsal::{
    loopback::reply,
    provider::{Adapter, ECHO, KEY, MODEL, Rehearsed, Spoken, wait_seconds},
};

struct GenerateContent(Delivery);

impl Adapter for GenerateContent {
    type Session = GeminiSession;

    const REQUEST_ID: Option<&'static str> = None;

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities {
            live_deltas: self.0 == Delivery::Streamed,
            // The API tells neither prices nor what was written to a cache.
            cost: false,
            cache_writes: false,
            ..ModelCapabilities::ALL
        }
    }

    fn session(&self, base_url: &str) -> Result<GeminiSession, BuildError> {
        GeminiSession::builder(base_url)
            .delivery(self.0)
            .credential(CredentialHandle::new(KEY))
            .profile(MODEL, profile())
            .build()
    }

    fn spoken(&self, answer: &Answer) -> Spoken {
        match self.0 {
            Delivery::Streamed => spoken::events(answer),
            Delivery::Whole => Spoken::Document(spoken::document(answer)),
        }
    }

    /// Errors of a stream stand in a list.
    fn refused(&self, refusal: Refusal) -> Vec<u8> {
        let (status, code, text) = match refusal {
            Refusal::Invalid => ("400 Bad Request", "INVALID_ARGUMENT", "the message is malformed"),
            Refusal::Unauthorized => ("401 Unauthorized", "UNAUTHENTICATED", "invalid credentials"),
            Refusal::Forbidden => {
                ("403 Forbidden", "PERMISSION_DENIED", "the project has no access")
            }
            Refusal::UnknownModel => (
                "404 Not Found",
                "NOT_FOUND",
                "models/nope is not found for API version v1beta, or is not supported for \
                 generateContent",
            ),
            Refusal::RateLimited(_) => {
                ("429 Too Many Requests", "RESOURCE_EXHAUSTED", "you exceeded your current quota")
            }
            Refusal::ContextOverflow => (
                "400 Bad Request",
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)",
            ),
            Refusal::OutputLimit => (
                "400 Bad Request",
                "INVALID_ARGUMENT",
                "Unable to submit request because it has a maxOutputTokens value of 99999 but the \
                 supported range is from 1 (inclusive) to 65537 (exclusive)",
            ),
            Refusal::Overloaded(_) => {
                ("503 Service Unavailable", "UNAVAILABLE", "the model is overloaded")
            }
            Refusal::Broken => ("500 Internal Server Error", "INTERNAL", "an internal error"),
        };
        let number: u16 = status[..3].parse().expect("a status");
        let message = format!("{text}; {ECHO}");
        let details = wait_seconds(refusal).map(retry_info);
        let details = Value::from_iter(details);
        let error = json!({"code": number, "message": message, "status": code, "details": details});
        reply(status, &[], &json!([{ "error": error }]).to_string())
    }

    fn malformed(&self) -> &'static str {
        match self.0 {
            Delivery::Streamed => "data: {no json}\n\n",
            Delivery::Whole => "{\"candidates\": what}",
        }
    }
}

fn retry_info(seconds: u64) -> Value {
    let kind = "type.googleapis.com/google.rpc.RetryInfo";
    json!({"@type": kind, "retryDelay": format!("{seconds}s")})
}

fn profile() -> ModelProfile {
    ModelProfile {
        context_window_tokens: 128_000,
        max_input_tokens: 96_000,
        max_output_tokens: Some(32_000),
        images: true,
        price: None,
    }
}

mod streamed {
    use super::{Delivery, GenerateContent, Rehearsed};

    port_conformance::model_conformance!(Rehearsed(GenerateContent(Delivery::Streamed)));
}

mod whole {
    use super::{Delivery, GenerateContent, Rehearsed};

    port_conformance::model_conformance!(Rehearsed(GenerateContent(Delivery::Whole)));
}
