//! Both APIs, streamed and whole, hold every promise of a model session over real TCP.
//!
//! Knows the wire only to play a provider: what must hold is the suite's.

mod spoken;

use std::sync::Arc;

use openai_adapter::{Api, Delivery, OpenAiSession};
use port_conformance::{
    Unstageable,
    model::{
        Answer, ModelCapabilities, ModelHarness, ProviderReply, ProviderScript, ProviderView,
        Refusal, StagedModel,
    },
};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;
use spoken::Wire;
use wire_rehearsal::loopback::{
    Act, LAST_CHUNK, Loopback, chunk, refusing_address, reply, stream_head,
};

struct Harness(Wire);

#[async_trait::async_trait]
impl ModelHarness for Harness {
    fn capabilities(&self) -> ModelCapabilities {
        let live_deltas = self.0.delivery == Delivery::Streamed;
        // A machine without certificates speaks no TLS, which is what makes connecting long.
        let waits_to_connect = OpenAiSession::builder("https://127.0.0.1/v1").build().is_ok();
        ModelCapabilities { live_deltas, waits_to_connect, ..ModelCapabilities::ALL }
    }

    async fn stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable> {
        let (base_url, server) = match script {
            ProviderScript::Replies(replies) => {
                let acts = replies.iter().map(|reply| acts(self.0, reply)).collect();
                let server = Loopback::start(acts).await;
                (server.base_url(), Some(server))
            }
            ProviderScript::Unreachable => {
                (format!("http://{}/v1", refusing_address().await), None)
            }
            ProviderScript::NeverConnects => {
                // It takes the connection and never answers the handshake.
                let server = Loopback::start(Vec::new()).await;
                (server.base_url().replace("http://", "https://"), Some(server))
            }
        };
        let session = OpenAiSession::builder(base_url)
            .api(self.0.api)
            .delivery(self.0.delivery)
            .credential(CredentialHandle::new("key-of-the-suite"))
            .profile("served", profile())
            .build()
            .map_err(|error| Unstageable::because(error.to_string()))?;
        Ok(StagedModel {
            session: Arc::new(session),
            model: "served".into(),
            unknown_model: "not-served".into(),
            provider: Arc::new(View(server)),
        })
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

struct View(Option<Loopback>);

impl ProviderView for View {
    fn requests_seen(&self) -> usize {
        self.0.as_ref().map_or(0, |server| server.seen().len())
    }

    fn request_text(&self, index: usize) -> Option<String> {
        self.0.as_ref()?.seen().get(index).map(|request| request.body.clone())
    }

    fn abandoned(&self) -> usize {
        self.0.as_ref().map_or(0, Loopback::abandoned)
    }
}

fn acts(wire: Wire, reply: &ProviderReply) -> Vec<Act> {
    match reply {
        ProviderReply::Answer(answer) => answered(wire, answer),
        ProviderReply::Refuse(refusal) => vec![Act::Send(refused(*refusal))],
        ProviderReply::StallBeforeAnswer => vec![Act::Hang],
        ProviderReply::StallMidAnswer(answer) => broken_off(wire, answer, Act::Hang),
        ProviderReply::CutBeforeAnswer => vec![Act::Close],
        ProviderReply::CutMidAnswer(answer) => broken_off(wire, answer, Act::Close),
        ProviderReply::Malformed => vec![Act::Send(match wire.delivery {
            Delivery::Streamed => reply_of("data: {no json}\n\ndata: [DONE]\n\n"),
            Delivery::Whole => reply_of("{\"choices\": what}"),
        })],
    }
}

fn reply_of(body: &str) -> Vec<u8> {
    reply("200 OK", &[], body)
}

fn request_id(answer: &Answer) -> Vec<(&str, &str)> {
    answer.request_id.iter().map(|id| ("x-request-id", id.as_str())).collect()
}

fn answered(wire: Wire, answer: &Answer) -> Vec<Act> {
    let headers = request_id(answer);
    if wire.delivery == Delivery::Whole {
        return vec![Act::Send(reply("200 OK", &headers, &wire.document(answer)))];
    }
    let (begun, end) = wire.events(answer);
    let events = begun.iter().chain(&end).map(|event| Act::Send(chunk(event.as_bytes())));
    let head = Act::Send(stream_head(&headers));
    [head].into_iter().chain(events).chain([Act::Send(LAST_CHUNK.to_vec())]).collect()
}

fn broken_off(wire: Wire, answer: &Answer, then: Act) -> Vec<Act> {
    let headers = request_id(answer);
    if wire.delivery == Delivery::Whole {
        let whole = reply("200 OK", &headers, &wire.document(answer));
        return vec![Act::Send(whole[..whole.len() - 40].to_vec()), then];
    }
    let (begun, _) = wire.events(answer);
    let events = begun.iter().map(|event| Act::Send(chunk(event.as_bytes())));
    [Act::Send(stream_head(&headers))].into_iter().chain(events).chain([then]).collect()
}

/// Refusals as providers word them, with words of the request and the key in them.
fn refused(refusal: Refusal) -> Vec<u8> {
    let echo = "you sent payload-canary-5e with key-of-the-suite";
    let (status, code, text) = match refusal {
        Refusal::Invalid => ("400 Bad Request", "invalid_value", "the message is malformed"),
        Refusal::Unauthorized => ("401 Unauthorized", "invalid_api_key", "incorrect api key"),
        Refusal::Forbidden => ("403 Forbidden", "no_access", "the project has no access"),
        Refusal::UnknownModel => {
            ("404 Not Found", "model_not_found", "The model `nope` does not exist")
        }
        Refusal::RateLimited(_) => ("429 Too Many Requests", "rate_limit_exceeded", "slow down"),
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
    let wait = match refusal {
        Refusal::RateLimited(Some(wait)) | Refusal::Overloaded(Some(wait)) => {
            Some(wait.as_secs().to_string())
        }
        _ => None,
    };
    let headers: Vec<(&str, &str)> =
        wait.iter().map(|wait| ("retry-after", wait.as_str())).collect();
    let message = format!("{text}; {echo}");
    let body = serde_json::json!({"error": {"message": message, "code": code, "type": "error"}});
    reply(status, &headers, &body.to_string())
}

mod chat {
    use super::{Api, Delivery, Harness, Wire};

    port_conformance::model_conformance!(Harness(Wire {
        api: Api::Chat,
        delivery: Delivery::Streamed
    }));
}

mod responses {
    use super::{Api, Delivery, Harness, Wire};

    port_conformance::model_conformance!(Harness(Wire {
        api: Api::Responses,
        delivery: Delivery::Streamed
    }));
}

mod chat_whole {
    use super::{Api, Delivery, Harness, Wire};

    port_conformance::model_conformance!(Harness(Wire {
        api: Api::Chat,
        delivery: Delivery::Whole
    }));
}

mod responses_whole {
    use super::{Api, Delivery, Harness, Wire};

    port_conformance::model_conformance!(Harness(Wire {
        api: Api::Responses,
        delivery: Delivery::Whole
    }));
}
