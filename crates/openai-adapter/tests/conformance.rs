//! Both APIs, streamed and whole, hold every promise of a model session over real TCP.
//!
//! Knows the wire only to play a provider: what must hold is the suite's.

mod spoken;

use openai_adapter::{Api, BuildError, Delivery, OpenAiSession};
use port_conformance::model::{Answer, ModelCapabilities, Refusal};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;
use spoken::Wire;
use wire_rehearsal::provider::{Adapter, ECHO, KEY, MODEL, Rehearsed, Spoken, refusing};

impl Adapter for Wire {
    type Session = OpenAiSession;

    const REQUEST_ID: Option<&'static str> = Some("x-request-id");

    fn capabilities(&self) -> ModelCapabilities {
        let live_deltas = self.delivery == Delivery::Streamed;
        ModelCapabilities { live_deltas, ..ModelCapabilities::ALL }
    }

    fn session(&self, base_url: &str) -> Result<OpenAiSession, BuildError> {
        OpenAiSession::builder(base_url)
            .api(self.api)
            .delivery(self.delivery)
            .credential(CredentialHandle::new(KEY))
            .profile(MODEL, profile())
            .build()
    }

    fn spoken(&self, answer: &Answer) -> Spoken {
        match self.delivery {
            Delivery::Streamed => self.events(answer),
            Delivery::Whole => Spoken::Document(self.document(answer)),
        }
    }

    fn refused(&self, refusal: Refusal) -> Vec<u8> {
        let (status, code, text) = match refusal {
            Refusal::Invalid => ("400 Bad Request", "invalid_value", "the message is malformed"),
            Refusal::Unauthorized => ("401 Unauthorized", "invalid_api_key", "incorrect api key"),
            Refusal::Forbidden => ("403 Forbidden", "no_access", "the project has no access"),
            Refusal::UnknownModel => {
                ("404 Not Found", "model_not_found", "The model `nope` does not exist")
            }
            Refusal::RateLimited(_) => {
                ("429 Too Many Requests", "rate_limit_exceeded", "slow down")
            }
            Refusal::ContextOverflow => (
                "400 Bad Request",
                "context_length_exceeded",
                "maximum context length is 8192 tokens. However, your messages have 9000 tokens",
            ),
            Refusal::OutputLimit => (
                "400 Bad Request",
                "invalid_value",
                "max_tokens is too large: 99999. This model supports at most 4096 completion tokens",
            ),
            Refusal::Overloaded(_) => ("503 Service Unavailable", "overloaded", "no capacity"),
            Refusal::Broken => ("500 Internal Server Error", "server_error", "it broke"),
        };
        let message = format!("{text}; {ECHO}");
        let error = serde_json::json!({"message": message, "code": code, "type": "error"});
        refusing(status, refusal, &serde_json::json!({ "error": error }).to_string())
    }

    fn malformed(&self) -> &'static str {
        match self.delivery {
            Delivery::Streamed => "data: {no json}\n\ndata: [DONE]\n\n",
            Delivery::Whole => "{\"choices\": what}",
        }
    }
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

mod chat {
    use super::{Api, Delivery, Rehearsed, Wire};

    port_conformance::model_conformance!(Rehearsed(Wire {
        api: Api::Chat,
        delivery: Delivery::Streamed
    }));
}

mod responses {
    use super::{Api, Delivery, Rehearsed, Wire};

    port_conformance::model_conformance!(Rehearsed(Wire {
        api: Api::Responses,
        delivery: Delivery::Streamed
    }));
}

mod chat_whole {
    use super::{Api, Delivery, Rehearsed, Wire};

    port_conformance::model_conformance!(Rehearsed(Wire {
        api: Api::Chat,
        delivery: Delivery::Whole
    }));
}

mod responses_whole {
    use super::{Api, Delivery, Rehearsed, Wire};

    port_conformance::model_conformance!(Rehearsed(Wire {
        api: Api::Responses,
        delivery: Delivery::Whole
    }));
}
