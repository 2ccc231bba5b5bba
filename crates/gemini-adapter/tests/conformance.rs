//! Streamed and whole, the session holds every promise of a model session over real TCP.
//!
//! Knows the wire only to play a provider: what must hold is the suite's.

mod spoken;

use std::sync::Arc;

use gemini_adapter::{Delivery, GeminiSession};
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
        // A machine without certificates speaks no TLS, which is what makes connecting long.
        let waits_to_connect = GeminiSession::builder("https://127.0.0.1/v1").build().is_ok();
        ModelCapabilities {
            live_deltas: self.0 == Delivery::Streamed,
            // The API tells neither prices nor what was written to a cache.
            cost: false,
            cache_writes: false,
            waits_to_connect,
            ..ModelCapabilities::ALL
        }
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
        let session = GeminiSession::builder(base_url)
            .delivery(self.0)
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

fn acts(delivery: Delivery, reply: &ProviderReply) -> Vec<Act> {
    match reply {
        ProviderReply::Answer(answer) => answered(delivery, answer),
        ProviderReply::Refuse(refusal) => vec![Act::Send(refused(*refusal))],
        ProviderReply::StallBeforeAnswer => vec![Act::Hang],
        ProviderReply::StallMidAnswer(answer) => broken_off(delivery, answer, Act::Hang),
        ProviderReply::CutBeforeAnswer => vec![Act::Close],
        ProviderReply::CutMidAnswer(answer) => broken_off(delivery, answer, Act::Close),
        ProviderReply::Malformed => vec![Act::Send(match delivery {
            Delivery::Streamed => reply_of("data: {no json}\n\n"),
            Delivery::Whole => reply_of("{\"candidates\": what}"),
        })],
    }
}

fn reply_of(body: &str) -> Vec<u8> {
    reply("200 OK", &[], body)
}

fn answered(delivery: Delivery, answer: &Answer) -> Vec<Act> {
    if delivery == Delivery::Whole {
        return vec![Act::Send(reply_of(&spoken::document(answer)))];
    }
    let (begun, end) = spoken::events(answer);
    let events = begun.iter().chain(&end).map(|event| Act::Send(chunk(event.as_bytes())));
    let head = Act::Send(stream_head(&[]));
    [head].into_iter().chain(events).chain([Act::Send(LAST_CHUNK.to_vec())]).collect()
}

fn broken_off(delivery: Delivery, answer: &Answer, then: Act) -> Vec<Act> {
    if delivery == Delivery::Whole {
        let whole = reply_of(&spoken::document(answer));
        return vec![Act::Send(whole[..whole.len() - 40].to_vec()), then];
    }
    let (begun, _) = spoken::events(answer);
    let events = begun.iter().map(|event| Act::Send(chunk(event.as_bytes())));
    [Act::Send(stream_head(&[]))].into_iter().chain(events).chain([then]).collect()
}

/// Refusals as the provider words them, with words of the request and the key in them; errors of a
/// stream stand in a list.
fn refused(refusal: Refusal) -> Vec<u8> {
    let echo = "you sent payload-canary-5e with key-of-the-suite";
    let (status, code, text) = match refusal {
        Refusal::Invalid => ("400 Bad Request", "INVALID_ARGUMENT", "the message is malformed"),
        Refusal::Unauthorized => ("401 Unauthorized", "UNAUTHENTICATED", "invalid credentials"),
        Refusal::Forbidden => ("403 Forbidden", "PERMISSION_DENIED", "the project has no access"),
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
    let details = match refusal {
        Refusal::RateLimited(Some(wait)) | Refusal::Overloaded(Some(wait)) => {
            serde_json::json!([{
                "@type": "type.googleapis.com/google.rpc.RetryInfo",
                "retryDelay": format!("{}s", wait.as_secs()),
            }])
        }
        _ => serde_json::json!([]),
    };
    let number: u16 = status[..3].parse().expect("a status");
    let message = format!("{text}; {echo}");
    let error =
        serde_json::json!({"code": number, "message": message, "status": code, "details": details});
    reply(status, &[], &serde_json::json!([{ "error": error }]).to_string())
}

mod streamed {
    use super::{Delivery, Harness};

    port_conformance::model_conformance!(Harness(Delivery::Streamed));
}

mod whole {
    use super::{Delivery, Harness};

    port_conformance::model_conformance!(Harness(Delivery::Whole));
}
