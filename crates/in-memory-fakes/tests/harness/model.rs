//! Decides how a provider's doings become the script of a `FakeModel`.
//!
//! Knows nothing about what the scenarios expect. It is the fake's wire: what a real adapter does
//! with bytes (parsing arguments, noticing a cut answer) is done here, once, for every script.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, ModelCallEnd, ModelStep};
use port_conformance::{
    Unstageable,
    model::{
        Answer, ModelCapabilities, ModelHarness, Piece, ProviderReply, ProviderScript,
        ProviderView, Refusal, StagedModel,
    },
};
use runtime_ports::{
    Metering, ModelContent, ModelFinish, ModelRequest, PortFailure, PortFailureKind, RequestMeter,
    Transcript, TurnEnd,
};
use serde_json::{Value, json};

const ISSUER: &str = "fake";

/// A `FakeModel` behind every scenario.
pub(crate) struct FakeModelHarness;

#[async_trait]
impl ModelHarness for FakeModelHarness {
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::ALL
    }

    async fn stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable> {
        let model = FakeModel::new(steps(script));
        model.unchecked();
        Ok(StagedModel {
            session: Arc::new(model.clone()),
            model: FakeModel::MODEL.into(),
            unknown_model: "not-served".into(),
            provider: Arc::new(FakeProvider(model)),
        })
    }
}

/// What a provider behind the fake would have noticed.
struct FakeProvider(FakeModel);

impl ProviderView for FakeProvider {
    fn requests_seen(&self) -> usize {
        self.0.requests().len()
    }

    fn request_text(&self, index: usize) -> Option<String> {
        self.0.requests().get(index).map(sent_text)
    }

    fn abandoned(&self) -> usize {
        let gone = |end: &ModelCallEnd| match end {
            ModelCallEnd::Dropped => true,
            ModelCallEnd::Failed(failure) => {
                matches!(failure.kind, PortFailureKind::Canceled | PortFailureKind::Timeout)
            }
            ModelCallEnd::InFlight | ModelCallEnd::Answered => false,
        };
        self.0.calls().iter().filter(|call| call.sent && gone(&call.end)).count()
    }
}

/// The request as it would be sent: reasoning goes back to its issuer only.
fn sent_text(request: &ModelRequest) -> String {
    let sent: Transcript = request
        .messages
        .messages()
        .cloned()
        .map(|mut message| {
            message.content.retain(|content| {
                !matches!(content, ModelContent::Reasoning { issuer, .. } if issuer != ISSUER)
            });
            message
        })
        .collect();
    json!({
        "messages": sent,
        "tools": request.tools,
        "limit": request.max_output_tokens,
        "options": request.options,
    })
    .to_string()
}

/// The steps of a fake that does what the provider does.
pub(crate) fn steps(script: ProviderScript) -> Vec<ModelStep> {
    match script {
        ProviderScript::Replies(replies) => replies.into_iter().map(step).collect(),
        ProviderScript::Unreachable => {
            let message = "nobody listens there; check the address";
            let failure = PortFailure::not_sent(PortFailureKind::Unavailable, "REFUSED", message);
            vec![ModelStep::fail_before_sending(failure.retryable())]
        }
        ProviderScript::NeverConnects => vec![ModelStep::stall_before_sending()],
    }
}

fn step(reply: ProviderReply) -> ModelStep {
    match &reply {
        ProviderReply::Answer(answer) => answering(answer),
        ProviderReply::StallBeforeAnswer => ModelStep::stall(),
        ProviderReply::StallMidAnswer(answer) => unfinished(answer).then_stall(),
        ProviderReply::CutMidAnswer(answer) => unfinished(answer).then_fail(failure_of(&reply)),
        ProviderReply::Refuse(_) | ProviderReply::CutBeforeAnswer | ProviderReply::Malformed => {
            ModelStep::fail(failure_of(&reply))
        }
    }
}

/// The failure that a call ends with which gets this reply.
pub(crate) fn failure_of(reply: &ProviderReply) -> PortFailure {
    let unknown = PortFailure::in_flight_unknown;
    match reply {
        ProviderReply::Refuse(refusal) => refused(*refusal),
        ProviderReply::Malformed => {
            let message = "the answer is not the provider's protocol";
            unknown(PortFailureKind::Protocol, "MALFORMED", message)
        }
        _ => {
            let message = "the connection was closed before the answer was complete";
            unknown(PortFailureKind::Protocol, "CUT", message)
        }
    }
}

/// Identity, tool and arguments of the piece, if it is a call.
pub(crate) fn call_of((number, piece): (usize, &Piece)) -> Option<(String, String, Value)> {
    match content(number, piece) {
        ModelContent::ToolUse { id, name, arguments } => Some((id, name, arguments)),
        _ => None,
    }
}

/// The answer as far as it was streamed: its counts come at the end, so there are none.
fn unfinished(answer: &Answer) -> ModelStep {
    let contents = answer.pieces.iter().enumerate().map(|(number, piece)| content(number, piece));
    contents.fold(ModelStep::empty(), ModelStep::and).in_pieces(5)
}

fn answering(answer: &Answer) -> ModelStep {
    let finish = finish_of(answer);
    let usage = answer.usage.unwrap_or_default();
    let metering =
        if usage.is_unreported() { Metering::Unavailable } else { Metering::Tokens(usage) };
    let attempt = RequestMeter {
        provider_request_id: answer.request_id.clone(),
        metering,
        end: if finish.is_complete() { TurnEnd::Completed } else { TurnEnd::Failed },
        cost_nano_usd: answer.cost_nano_usd,
    };
    let step = unfinished(answer).token_usage(usage).finish(finish).attempts(vec![attempt]);
    match answer.cost_nano_usd {
        Some(cost) => step.cost(cost),
        None => step,
    }
}

fn finish_of(answer: &Answer) -> ModelFinish {
    let ends_early = answer
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Call { arguments, .. } if parsed(arguments).is_none()));
    let calls = answer.pieces.iter().any(|piece| matches!(piece, Piece::Call { .. }));
    match answer.finish {
        _ if ends_early => ModelFinish::Length,
        ModelFinish::Stop if calls => ModelFinish::ToolCalls,
        stated => stated,
    }
}

fn content(number: usize, piece: &Piece) -> ModelContent {
    match piece {
        Piece::Text(fragments) => ModelContent::text(fragments.concat()),
        Piece::Reasoning { text, opaque } => ModelContent::Reasoning {
            issuer: ISSUER.into(),
            text: text.clone(),
            opaque: opaque.clone(),
        },
        Piece::Call { id, name, arguments } => ModelContent::ToolUse {
            id: id.clone().unwrap_or_else(|| format!("made-up-{number}")),
            name: name.clone(),
            arguments: parsed(arguments).unwrap_or_else(|| Value::String(arguments.clone())),
        },
    }
}

/// What the arguments mean; `None` when they end early.
fn parsed(arguments: &str) -> Option<Value> {
    if arguments.trim().is_empty() {
        return Some(json!({}));
    }
    match serde_json::from_str(arguments) {
        Ok(Value::String(_)) => Some(Value::String(arguments.into())),
        Ok(value) => Some(value),
        Err(error) if error.is_eof() => None,
        Err(_) => Some(Value::String(arguments.into())),
    }
}

fn refused(refusal: Refusal) -> PortFailure {
    let rejected = |kind, code: &str| PortFailure::rejected(kind, code, "the provider refused");
    let outage = |code: &str| {
        let message = "the provider cannot serve at present; try again later";
        PortFailure::in_flight_unknown(PortFailureKind::Unavailable, code, message).retryable()
    };
    let waiting = |failure: PortFailure, wait| match wait {
        Some(wait) => failure.retry_after(wait),
        None => failure,
    };
    match refusal {
        Refusal::Invalid => rejected(PortFailureKind::Invalid, "INVALID"),
        Refusal::Unauthorized => rejected(PortFailureKind::Forbidden, "UNAUTHORIZED"),
        Refusal::Forbidden => rejected(PortFailureKind::Forbidden, "FORBIDDEN"),
        Refusal::UnknownModel => rejected(PortFailureKind::NotFound, "MODEL_NOT_FOUND"),
        Refusal::RateLimited(wait) => {
            waiting(rejected(PortFailureKind::RateLimited, "RATE_LIMITED").retryable(), wait)
        }
        Refusal::ContextOverflow => rejected(PortFailureKind::ContextOverflow, "CONTEXT_OVERFLOW"),
        Refusal::OutputLimit => rejected(PortFailureKind::OutputLimit, "OUTPUT_LIMIT"),
        Refusal::Overloaded(wait) => waiting(outage("OVERLOADED"), wait),
        Refusal::Broken => outage("BROKEN"),
    }
}
