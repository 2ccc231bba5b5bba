//! Decides how a scenario is put into the script of llmock, and what is checked against it.
//!
//! It scripts texts, finish reasons and faults; identities of calls and counts are its own.

use std::sync::Arc;

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    model::{Answer, ModelCapabilities, Piece, ProviderReply, Refusal},
};
use runtime_ports::ModelFinish;
use serde_json::{Value, json};

use crate::{
    control,
    conversations::{self, Knows, Subject},
    results::{About, Results},
    speech::{Endpoint, Speech},
    suite::{self, Scripted},
};

pub(crate) const VERSION: &str = "0.2.2";
/// As long as no scenario takes.
const FOR_EVER: u32 = 30;

/// What no script of the server says: counts, identities of calls, arguments that are no object, and
/// an end before the head of an answer.
const NOT_STAGED: &[&str] = &[
    "a_cut_amid_the_answer_is_unknown",
    "a_cut_answer_carries_no_call",
    "a_cut_before_the_answer_is_unknown",
    "a_failure_leaves_the_session_usable",
    "a_rate_limit_is_typed",
    "call_deltas_add_up",
    "call_ids_are_kept",
    "calls_keep_their_order",
    "calls_win_over_stop",
    "cut_arguments_make_a_cut_answer",
    "empty_arguments_are_an_object",
    "partial_usage_keeps_its_gaps",
    "reported_usage_arrives",
    "reported_zero_is_zero",
    "streaming_changes_no_answer",
    "string_arguments_keep_their_quotes",
    "text_before_calls_is_kept",
    "unparsable_arguments_stay_text",
    "withheld_usage_is_unknown",
];

/// What the server does not say of an answer of Responses: it is complete, or was cut.
const OF_RESPONSES: &[&str] = &["a_filtered_answer_says_so", "an_odd_finish_is_other"];

/// What stands between the server and the paths of an API.
pub(crate) const fn prefix(speech: Speech) -> &'static str {
    match speech {
        Speech::Chat | Speech::Responses => "/v1",
        Speech::Messages => "/anthropic/v1",
    }
}

/// The checks against the server, but for its judgement.
pub(crate) async fn check(base: &str, speech: Speech, results: &Results) {
    let about = About { server: "llmock", version: VERSION, api: speech.name() };
    let server = Arc::new(Llmock { base: base.to_owned(), speech });
    let departs = OF_RESPONSES.iter().filter(|_| speech == Speech::Responses);
    let not_staged: Vec<&str> = NOT_STAGED.iter().chain(departs).copied().collect();
    results.take(&about, "model suite", suite::run(server, &not_staged)).await;
    let endpoint = Endpoint::new(speech, format!("{base}{}", prefix(speech)), "any-model");
    let forms = speech != Speech::Messages;
    let knows = Knows { forms, ..Knows::NOTHING };
    let subject = Subject { base: base.to_owned(), endpoint, knows };
    conversations::check(&subject, &about, results).await;
}

struct Llmock {
    base: String,
    speech: Speech,
}

#[async_trait]
impl Scripted for Llmock {
    async fn script(&self, model: &str, replies: &[ProviderReply]) -> Result<(), Unstageable> {
        let mut behaviors = Vec::new();
        for reply in replies {
            for mut behavior in self.behaviors(reply)? {
                behavior["match"] = json!({ "model": model });
                behaviors.push(behavior);
            }
        }
        if behaviors.is_empty() {
            return Ok(());
        }
        let body = json!({ "behaviors": behaviors });
        let added = control::command(&self.base, "POST", "/_llmock/scenario", Some(&body)).await;
        added.map(drop).map_err(Unstageable::because)
    }

    fn base(&self) -> &str {
        &self.base
    }

    fn prefix(&self) -> &'static str {
        prefix(self.speech)
    }

    fn speech(&self) -> Speech {
        self.speech
    }

    fn departs(&self, scenario: &str) -> Option<&'static str> {
        let departs = self.speech == Speech::Responses && OF_RESPONSES.contains(&scenario);
        departs.then_some("an answer of Responses is complete, or was cut at a limit")
    }

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities {
            reasoning: false,
            reasoning_replay: false,
            cost: false,
            cache_writes: false,
            request_ids: false,
            missing_call_ids: false,
            waits_to_connect: false,
            ..ModelCapabilities::ALL
        }
    }
}

impl Llmock {
    fn behaviors(&self, reply: &ProviderReply) -> Result<Vec<Value>, Unstageable> {
        let fault = |kind: &str, after: usize| {
            let seconds = FOR_EVER;
            json!({ "type": "stream_fault", "kind": kind, "after_chunks": after,
                    "stall_seconds": seconds })
        };
        Ok(match reply {
            ProviderReply::Answer(answer) => {
                if answer.usage != Answer::text("").usage {
                    return Err(Unstageable::because("the server counts by itself"));
                }
                vec![said(answer)?]
            }
            ProviderReply::Refuse(refusal) => vec![refused(*refusal)?],
            ProviderReply::StallBeforeAnswer => {
                vec![json!({ "type": "delay", "seconds": FOR_EVER })]
            }
            ProviderReply::StallMidAnswer(answer) => {
                vec![said(answer)?, fault("stall", self.chunks_before_the_end(answer))]
            }
            ProviderReply::CutBeforeAnswer => {
                return Err(Unstageable::because("the server always sends the head of an answer"));
            }
            ProviderReply::CutMidAnswer(answer) => {
                vec![said(answer)?, fault("disconnect", self.chunks_before_the_end(answer))]
            }
            ProviderReply::Malformed => vec![fault("malformed", 0)],
        })
    }

    /// Events up to the last that has a word of the text.
    fn chunks_before_the_end(&self, answer: &Answer) -> usize {
        let words = answer.whole_text().split_whitespace().count();
        words
            + match self.speech {
                Speech::Chat => 1,
                Speech::Responses => 4,
                Speech::Messages => 3,
            }
    }
}

fn said(answer: &Answer) -> Result<Value, Unstageable> {
    if answer.pieces.iter().any(|piece| !matches!(piece, Piece::Text(_))) {
        return Err(Unstageable::because("identities of calls and reasoning cannot be scripted"));
    }
    let finish = match answer.finish {
        ModelFinish::Stop => "stop",
        ModelFinish::ToolCalls => "tool_calls",
        ModelFinish::Length => "length",
        ModelFinish::ContentFilter => "content_filter",
        ModelFinish::Other => "odd_reason",
    };
    Ok(json!({ "type": "reply", "text": answer.whole_text(), "finish_reason": finish }))
}

fn refused(refusal: Refusal) -> Result<Value, Unstageable> {
    let fail = |status: u16, code: Option<&str>, message: &str| json!({ "type": "fail", "status": status, "code": code, "message": message });
    let waiting = |mut fail: Value, wait: Option<std::time::Duration>| {
        fail["retry_after"] = json!(wait.map(|wait| wait.as_secs_f64()));
        fail
    };
    Ok(match refusal {
        Refusal::RateLimited(None) => {
            return Err(Unstageable::because("a rate limit of the server always asks for a wait"));
        }
        Refusal::Invalid => fail(400, None, "malformed: payload-canary-5e"),
        Refusal::Unauthorized => fail(401, None, "no: payload-canary-5e"),
        Refusal::Forbidden => fail(403, None, "the key may not do this"),
        Refusal::UnknownModel => fail(404, Some("model_not_found"), "the model does not exist"),
        Refusal::RateLimited(wait) => waiting(fail(429, None, "slow down"), wait),
        Refusal::ContextOverflow => {
            fail(400, None, "prompt is too long: 9000 tokens > 8192 maximum")
        }
        Refusal::OutputLimit => fail(
            400,
            None,
            "max_tokens is too large: 99999. This model supports at most 4096 completion tokens",
        ),
        Refusal::Overloaded(wait) => waiting(fail(503, None, "no capacity"), wait),
        Refusal::Broken => fail(500, None, "it broke: payload-canary-5e"),
    })
}
