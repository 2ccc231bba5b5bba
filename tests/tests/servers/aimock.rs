//! Decides how a scenario is put into the script of aimock, and what is checked against it.
//!
//! Each scenario has a model of its own, so that scripts do not meet. Its answers carry the counts
//! that the script says, two of them, and a call has the identity that the script gives.

use std::sync::Arc;

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    model::{Answer, ModelCapabilities, Piece, ProviderReply, Refusal},
};
use runtime_ports::{ModelFinish, TokenUsage};
use serde_json::{Map, Value, json};

use crate::{
    command, control,
    conversations::{self, Knows, Subject},
    results::{About, Results},
    speech::{Endpoint, Speech},
    suite::{self, Scripted},
};

const VERSION: &str = "1.43.0";
/// As long as no scenario takes.
const FOR_EVER: u32 = 60_000;

/// What the server refuses to have in a script, or says in no script: empty answers, arguments that
/// are no JSON, counts of caches, a rate limit without a wait.
const NOT_STAGED: &[&str] = &[
    "a_rate_limit_is_typed",
    "an_empty_answer_is_an_answer",
    "cut_arguments_make_a_cut_answer",
    "empty_arguments_are_an_object",
    "partial_usage_keeps_its_gaps",
    "reported_usage_arrives",
    "reported_zero_is_zero",
    "retry_after_is_carried",
    "unparsable_arguments_stay_text",
    "withheld_usage_is_unknown",
];

/// What the server says of an answer of Responses beside the script, or does not say.
const OF_RESPONSES: &[(&str, &str)] = &[
    ("text_before_calls_is_kept", "every answer begins with reasoning"),
    ("a_cut_answer_carries_no_call", "a cut answer is not said to be cut at a limit"),
    ("a_filtered_answer_says_so", "a filtered answer is one that failed"),
    ("an_odd_finish_is_other", "the status of an answer is not what the event says"),
];

/// All checks against the server.
pub(crate) async fn check(base: &str, speech: Speech, results: &Results) {
    let about = About { server: "aimock", version: VERSION, api: speech.name() };
    let server = Arc::new(Aimock { base: base.to_owned(), speech });
    let departs = OF_RESPONSES.iter().map(|(name, _)| *name);
    let departs = departs.filter(|_| speech == Speech::Responses);
    let not_staged: Vec<&str> = NOT_STAGED.iter().copied().chain(departs).collect();
    results.take(&about, "model suite", suite::run(server, &not_staged)).await;
    let endpoint = Endpoint::new(speech, format!("{base}/v1"), "scripted");
    let subject = Subject { base: base.to_owned(), endpoint, knows: Knows::THE_SCRIPT };
    conversations::check(&subject, &about, results).await;
    command::check(base, speech, &about, results).await;
}

struct Aimock {
    base: String,
    speech: Speech,
}

#[async_trait]
impl Scripted for Aimock {
    async fn script(&self, model: &str, replies: &[ProviderReply]) -> Result<(), Unstageable> {
        let fixtures = replies.iter().enumerate().map(|(index, reply)| {
            let mut fixture = self.fixture(reply)?;
            fixture.insert("match".into(), json!({ "model": model, "sequenceIndex": index }));
            Ok(Value::Object(fixture))
        });
        let fixtures = fixtures.collect::<Result<Vec<_>, Unstageable>>()?;
        if fixtures.is_empty() {
            return Ok(());
        }
        let body = json!({ "fixtures": fixtures });
        let added = control::command(&self.base, "POST", "/__aimock/fixtures", Some(&body)).await;
        added.map(drop).map_err(Unstageable::because)
    }

    fn base(&self) -> &str {
        &self.base
    }

    fn prefix(&self) -> &'static str {
        "/v1"
    }

    fn speech(&self) -> Speech {
        self.speech
    }

    fn departs(&self, scenario: &str) -> Option<&'static str> {
        let found = OF_RESPONSES.iter().find(|(name, _)| *name == scenario);
        found.filter(|_| self.speech == Speech::Responses).map(|(_, why)| *why)
    }

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities {
            // Ciphertext and signatures are its own.
            reasoning_replay: false,
            cost: false,
            cache_writes: false,
            // It names its requests itself.
            request_ids: false,
            missing_call_ids: false,
            waits_to_connect: false,
            ..ModelCapabilities::ALL
        }
    }
}

impl Aimock {
    fn fixture(&self, reply: &ProviderReply) -> Result<Map<String, Value>, Unstageable> {
        let chaos = |what: &str| json!({ "response": { "content": "x" }, "chaos": { what: 1 } });
        let silent = json!({ "ttftMs": FOR_EVER, "interChunkDelaysMs": [], "totalDurationMs": 0 });
        let fixture = match reply {
            ProviderReply::Answer(answer) => {
                json!({ "response": response(answer)?, "chunkSize": chunk_size(answer) })
            }
            ProviderReply::Refuse(refusal) => json!({ "response": error(*refusal)? }),
            ProviderReply::StallBeforeAnswer => {
                json!({ "response": { "content": "x" }, "recordedTimings": silent })
            }
            ProviderReply::StallMidAnswer(answer) => json!({
                "response": response(answer)?,
                "chunkSize": 4_096,
                "recordedTimings": self.stall_after_the_text(),
            }),
            ProviderReply::CutBeforeAnswer => chaos("disconnectRate"),
            ProviderReply::CutMidAnswer(answer) => {
                let chunks = self.chunks_before_the_end();
                json!({ "response": response(answer)?, "truncateAfterChunks": chunks })
            }
            ProviderReply::Malformed => chaos("malformedRate"),
        };
        match fixture {
            Value::Object(fixture) => Ok(fixture),
            _ => Err(Unstageable::because("a fixture is an object")),
        }
    }

    /// Events up to the one that has the whole text.
    const fn chunks_before_the_end(&self) -> usize {
        match self.speech {
            Speech::Chat => 2,
            // Reasoning, which the server always has, takes two.
            Speech::Responses => 7,
            Speech::Messages => 3,
        }
    }

    fn stall_after_the_text(&self) -> Value {
        let mut delays = vec![0; self.chunks_before_the_end()];
        if let Some(last) = delays.last_mut() {
            *last = FOR_EVER;
        }
        json!({ "ttftMs": 0, "interChunkDelaysMs": delays, "totalDurationMs": 0 })
    }
}

/// The server cuts between any two halves of a character, so that only ASCII is cut at all.
fn chunk_size(answer: &Answer) -> usize {
    let text = answer.whole_text();
    if text.is_ascii() { text.len().div_ceil(64).max(16) } else { 4_096 }
}

fn response(answer: &Answer) -> Result<Value, Unstageable> {
    let mut response = Map::new();
    let mut calls = Vec::new();
    for piece in &answer.pieces {
        match piece {
            Piece::Text(_) if !calls.is_empty() => {
                return Err(Unstageable::because("text stands before calls"));
            }
            Piece::Text(_) => {}
            Piece::Reasoning { text, .. } => {
                response.insert("reasoning".into(), json!(text));
            }
            Piece::Call { id: None, .. } => {
                return Err(Unstageable::because("the server gives every call an identity"));
            }
            Piece::Call { id, name, arguments } => {
                calls.push(json!({ "id": id, "name": name, "arguments": arguments }));
            }
        }
    }
    let text = answer.whole_text();
    if !text.is_empty() || calls.is_empty() {
        response.insert("content".into(), json!(text));
    }
    if !calls.is_empty() {
        response.insert("toolCalls".into(), json!(calls));
    }
    response.insert("usage".into(), usage(answer.usage)?);
    response.insert("finishReason".into(), json!(finish(answer.finish)));
    Ok(Value::Object(response))
}

fn usage(usage: Option<TokenUsage>) -> Result<Value, Unstageable> {
    let plain = |usage: &TokenUsage| {
        let parts = [usage.cached_input_tokens, usage.cache_write_tokens, usage.reasoning_tokens];
        parts == [None; 3]
    };
    match usage.filter(plain) {
        Some(TokenUsage { input_tokens: Some(input), output_tokens: Some(output), .. }) => {
            Ok(json!({
                "prompt_tokens": input, "completion_tokens": output,
                "input_tokens": input, "output_tokens": output,
            }))
        }
        _ => Err(Unstageable::because("the server counts two kinds of tokens, always")),
    }
}

const fn finish(finish: ModelFinish) -> &'static str {
    match finish {
        ModelFinish::Stop => "stop",
        ModelFinish::ToolCalls => "tool_calls",
        ModelFinish::Length => "length",
        ModelFinish::ContentFilter => "content_filter",
        ModelFinish::Other => "odd_reason",
    }
}

fn error(refusal: Refusal) -> Result<Value, Unstageable> {
    let error = |status: u16, code: &str, message: &str| json!({ "status": status, "error": { "message": message, "type": code, "code": code } });
    Ok(match refusal {
        Refusal::Invalid => error(400, "invalid_request_error", "malformed: payload-canary-5e"),
        Refusal::Unauthorized => error(401, "authentication_error", "no: payload-canary-5e"),
        Refusal::Forbidden => error(403, "permission_error", "the key may not do this"),
        Refusal::UnknownModel => error(404, "not_found_error", "model: nope does not exist"),
        Refusal::RateLimited(Some(wait)) => {
            let mut error = error(429, "rate_limit_error", "slow down");
            error["retryAfter"] = json!(wait.as_secs());
            error
        }
        Refusal::ContextOverflow => {
            error(400, "invalid_request_error", "prompt is too long: 9000 tokens > 8192 maximum")
        }
        Refusal::OutputLimit => error(
            400,
            "invalid_request_error",
            "max_tokens is too large: 99999. This model supports at most 4096 completion tokens",
        ),
        Refusal::Overloaded(None) => error(503, "overloaded_error", "no capacity"),
        Refusal::Broken => error(500, "api_error", "it broke: payload-canary-5e"),
        Refusal::RateLimited(None) => {
            return Err(Unstageable::because("a rate limit of the server always asks for a wait"));
        }
        Refusal::Overloaded(Some(_)) => {
            return Err(Unstageable::because("only a rate limit of the server asks for a wait"));
        }
    })
}
