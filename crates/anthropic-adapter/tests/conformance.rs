//! The Messages API, streamed and whole, holds every promise of a model session over real TCP.
//!
//! Knows the wire only to play a provider: what must hold is the suite's.

mod spoken;

use anthropic_adapter::{AnthropicSession, BuildError, Delivery, PromptCache};
use port_conformance::model::{Answer, ModelCapabilities, Refusal};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;
use wire_rehearsal::provider::{Adapter, ECHO, KEY, MODEL, Rehearsed, Spoken, refusing};

struct Messages(Delivery);

impl Adapter for Messages {
    type Session = AnthropicSession;

    const REQUEST_ID: Option<&'static str> = Some("request-id");

    fn capabilities(&self) -> ModelCapabilities {
        let live_deltas = self.0 == Delivery::Streamed;
        ModelCapabilities { live_deltas, ..ModelCapabilities::ALL }
    }

    fn session(&self, base_url: &str) -> Result<AnthropicSession, BuildError> {
        // The suite reports reads of a cache without writes, which says something of the whole
        // prompt only when nothing was to be written.
        AnthropicSession::builder(base_url)
            .delivery(self.0)
            .prompt_cache(PromptCache::Off)
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

    fn refused(&self, refusal: Refusal) -> Vec<u8> {
        let (status, kind, text) = match refusal {
            Refusal::Invalid => ("400 Bad Request", "invalid_request_error", "messages: bad"),
            Refusal::Unauthorized => {
                ("401 Unauthorized", "authentication_error", "invalid x-api-key")
            }
            Refusal::Forbidden => ("403 Forbidden", "permission_error", "no access"),
            Refusal::UnknownModel => ("404 Not Found", "not_found_error", "model: not-served"),
            Refusal::RateLimited(_) => ("429 Too Many Requests", "rate_limit_error", "slow down"),
            Refusal::ContextOverflow => (
                "400 Bad Request",
                "invalid_request_error",
                "prompt is too long: 205000 tokens > 200000 maximum",
            ),
            Refusal::OutputLimit => (
                "400 Bad Request",
                "invalid_request_error",
                "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens",
            ),
            Refusal::Overloaded(_) => ("529 Overloaded", "overloaded_error", "Overloaded"),
            Refusal::Broken => ("500 Internal Server Error", "api_error", "it broke"),
        };
        let error = serde_json::json!({"type": kind, "message": format!("{text}; {ECHO}")});
        let body = serde_json::json!({"type": "error", "error": error, "request_id": "req_1"});
        refusing(status, refusal, &body.to_string())
    }

    fn malformed(&self) -> &'static str {
        match self.0 {
            Delivery::Streamed => "event: message_start\ndata: {no json}\n\n",
            Delivery::Whole => "{\"content\": what}",
        }
    }
}

fn profile() -> ModelProfile {
    ModelProfile {
        context_window_tokens: 200_000,
        max_input_tokens: 136_000,
        max_output_tokens: Some(64_000),
        images: true,
        price: None,
    }
}

mod streamed {
    use super::{Delivery, Messages, Rehearsed};

    port_conformance::model_conformance!(Rehearsed(Messages(Delivery::Streamed)));
}

mod whole {
    use super::{Delivery, Messages, Rehearsed};

    port_conformance::model_conformance!(Rehearsed(Messages(Delivery::Whole)));
}
