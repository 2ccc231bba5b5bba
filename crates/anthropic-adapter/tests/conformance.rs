//! The Messages API, streamed and whole, holds every promise of a model session over real TCP.
//!
//! Knows the wire only to play a provider: what must hold is the suite's.

mod spoken;

use std::sync::Arc;

use anthropic_adapter::{AnthropicSession, Delivery, PromptCache};
use port_conformance::{
    Unstageable,
    model::{
        Answer, ModelCapabilities, ModelHarness, ProviderReply, ProviderScript, ProviderView,
        Refusal, StagedModel,
    },
};
use runtime_ports::ModelProfile;
use runtime_types::CredentialHandle;
use wire_rehearsal::loopback::{
    Act, LAST_CHUNK, Loopback, chunk, refusing_address, reply, stream_head,
};

struct Harness(Delivery);

#[async_trait::async_trait]
impl ModelHarness for Harness {
    fn capabilities(&self) -> ModelCapabilities {
        let live_deltas = self.0 == Delivery::Streamed;
        // A machine without certificates speaks no TLS, which is what makes connecting long.
        let waits_to_connect = AnthropicSession::builder("https://127.0.0.1/v1").build().is_ok();
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
        // The suite reports reads of a cache without writes, which says something of the whole
        // prompt only when nothing was to be written.
        let session = AnthropicSession::builder(base_url)
            .delivery(self.0)
            .prompt_cache(PromptCache::Off)
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
        context_window_tokens: 200_000,
        max_input_tokens: 136_000,
        max_output_tokens: Some(64_000),
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

fn acts(delivery: Delivery, reply: &ProviderReply) -> Vec<Act> {
    match reply {
        ProviderReply::Answer(answer) => answered(delivery, answer),
        ProviderReply::Refuse(refusal) => vec![Act::Send(refused(*refusal))],
        ProviderReply::StallBeforeAnswer => vec![Act::Hang],
        ProviderReply::StallMidAnswer(answer) => broken_off(delivery, answer, Act::Hang),
        ProviderReply::CutBeforeAnswer => vec![Act::Close],
        ProviderReply::CutMidAnswer(answer) => broken_off(delivery, answer, Act::Close),
        ProviderReply::Malformed => vec![Act::Send(match delivery {
            Delivery::Streamed => reply_of("event: message_start\ndata: {no json}\n\n"),
            Delivery::Whole => reply_of("{\"content\": what}"),
        })],
    }
}

fn reply_of(body: &str) -> Vec<u8> {
    reply("200 OK", &[], body)
}

fn request_id(answer: &Answer) -> Vec<(&str, &str)> {
    answer.request_id.iter().map(|id| ("request-id", id.as_str())).collect()
}

fn answered(delivery: Delivery, answer: &Answer) -> Vec<Act> {
    let headers = request_id(answer);
    if delivery == Delivery::Whole {
        return vec![Act::Send(reply("200 OK", &headers, &spoken::document(answer)))];
    }
    let (begun, end) = spoken::events(answer);
    let events = begun.iter().chain(&end).map(|event| Act::Send(chunk(event.as_bytes())));
    let head = Act::Send(stream_head(&headers));
    [head].into_iter().chain(events).chain([Act::Send(LAST_CHUNK.to_vec())]).collect()
}

fn broken_off(delivery: Delivery, answer: &Answer, then: Act) -> Vec<Act> {
    let headers = request_id(answer);
    if delivery == Delivery::Whole {
        let whole = reply("200 OK", &headers, &spoken::document(answer));
        return vec![Act::Send(whole[..whole.len() - 40].to_vec()), then];
    }
    let (begun, _) = spoken::events(answer);
    let events = begun.iter().map(|event| Act::Send(chunk(event.as_bytes())));
    [Act::Send(stream_head(&headers))].into_iter().chain(events).chain([then]).collect()
}

/// Refusals as the vendor words them, with words of the request and the key in them.
fn refused(refusal: Refusal) -> Vec<u8> {
    let echo = "you sent payload-canary-5e with key-of-the-suite";
    let (status, kind, text) = match refusal {
        Refusal::Invalid => ("400 Bad Request", "invalid_request_error", "messages: bad"),
        Refusal::Unauthorized => ("401 Unauthorized", "authentication_error", "invalid x-api-key"),
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
    let wait = match refusal {
        Refusal::RateLimited(Some(wait)) | Refusal::Overloaded(Some(wait)) => {
            Some(wait.as_secs().to_string())
        }
        _ => None,
    };
    let headers: Vec<(&str, &str)> =
        wait.iter().map(|wait| ("retry-after", wait.as_str())).collect();
    let error = serde_json::json!({"type": kind, "message": format!("{text}; {echo}")});
    let body = serde_json::json!({"type": "error", "error": error, "request_id": "req_1"});
    reply(status, &headers, &body.to_string())
}

mod streamed {
    use super::{Delivery, Harness};

    port_conformance::model_conformance!(Harness(Delivery::Streamed));
}

mod whole {
    use super::{Delivery, Harness};

    port_conformance::model_conformance!(Harness(Delivery::Whole));
}
