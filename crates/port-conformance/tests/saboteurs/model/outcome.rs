//! What the saboteur does wrong with an answer or a failure.
//!
//! Knows nothing about how it came about.

use runtime_ports::{
    CommitDisposition, Metering, ModelContent, ModelFinish, ModelRequest, ModelResponse,
    PortFailure, PortFailureKind, TokenUsage,
};
use serde_json::{Value, json};

use super::ModelFault as Fault;

/// The outcome as it is told.
pub(super) fn spoiled(
    fault: Fault,
    outcome: Result<ModelResponse, PortFailure>,
    request: &ModelRequest,
) -> Result<ModelResponse, PortFailure> {
    match outcome {
        Ok(response) if fault == Fault::FailsOnEmpty && response.output.is_empty() => {
            let message = "the answer is empty";
            Err(PortFailure::in_flight_unknown(PortFailureKind::Protocol, "EMPTY", message))
        }
        Ok(response) => Ok(spoiled_answer(fault, response)),
        Err(failure) => spoiled_failure(fault, failure, request),
    }
}

fn spoiled_answer(fault: Fault, mut response: ModelResponse) -> ModelResponse {
    spoil_metering(fault, &mut response);
    spoil_finish(fault, &mut response);
    let is_call = |content: &ModelContent| matches!(content, ModelContent::ToolUse { .. });
    match fault {
        Fault::LosesReasoning => {
            let is_kept =
                |content: &ModelContent| !matches!(content, ModelContent::Reasoning { .. });
            response.output.retain(is_kept);
        }
        Fault::ReversesCalls => response.output.reverse(),
        Fault::PutsTextLast => response.output.sort_by_key(|content| !is_call(content)),
        _ => response.output = response.output.into_iter().map(|it| said(fault, it)).collect(),
    }
    response
}

/// One piece of the answer as it is told.
fn said(fault: Fault, content: ModelContent) -> ModelContent {
    match content {
        ModelContent::Text { text } => ModelContent::Text { text: spoiled_text(fault, text) },
        ModelContent::ToolUse { id, name, arguments } => ModelContent::ToolUse {
            id: match fault {
                Fault::RenamesCalls => format!("renamed-{id}"),
                Fault::BlanksCallIds => String::new(),
                _ => id,
            },
            arguments: spoiled_arguments(fault, arguments),
            name,
        },
        other => other,
    }
}

fn spoiled_text(fault: Fault, mut text: String) -> String {
    match fault {
        Fault::LosesText => drop(text.pop()),
        Fault::MangledText => text.retain(|character| character.is_ascii()),
        Fault::CutsLongText => text.truncate(64 * 1_024),
        _ => {}
    }
    text
}

fn spoiled_arguments(fault: Fault, arguments: Value) -> Value {
    match (fault, &arguments) {
        (Fault::KeepsEmptyArguments, Value::Object(fields)) if fields.is_empty() => json!(""),
        (Fault::GuessesArguments, Value::String(_)) => json!({}),
        (Fault::UnquotesArguments, Value::String(raw)) => {
            serde_json::from_str(raw).unwrap_or(arguments)
        }
        _ => arguments,
    }
}

fn spoil_finish(fault: Fault, response: &mut ModelResponse) {
    match (fault, response.finish) {
        (Fault::RunsCutAnswers, ModelFinish::Length) => {
            let (id, name) = ("call-1".to_owned(), "read".to_owned());
            response.output.push(ModelContent::ToolUse { id, name, arguments: json!({}) });
            response.finish = ModelFinish::ToolCalls;
        }
        (Fault::BelievesStop, ModelFinish::ToolCalls) => response.finish = ModelFinish::Stop,
        (Fault::AlwaysStops, ModelFinish::ContentFilter | ModelFinish::Other) => {
            response.finish = ModelFinish::Stop;
        }
        _ => {}
    }
}

fn spoil_metering(fault: Fault, response: &mut ModelResponse) {
    let or_zero = |count: Option<u64>| count.or(Some(0));
    let not_zero = |count: Option<u64>| count.filter(|count| *count > 0);
    match fault {
        Fault::ZeroesUsage => set_usage(response, |usage| each(usage, or_zero)),
        Fault::DistrustsZero => set_usage(response, |usage| each(usage, not_zero)),
        Fault::LosesUsage => set_usage(response, |_| TokenUsage::default()),
        Fault::ZeroesCost => set_cost(response, |cost| cost.or(Some(0))),
        Fault::LosesCost => set_cost(response, |_| None),
        Fault::LosesRequestNames => {
            response.attempts.iter_mut().for_each(|attempt| attempt.provider_request_id = None);
        }
        _ => {}
    }
}

fn each(usage: TokenUsage, change: impl Fn(Option<u64>) -> Option<u64>) -> TokenUsage {
    TokenUsage {
        input_tokens: change(usage.input_tokens),
        output_tokens: change(usage.output_tokens),
        cached_input_tokens: change(usage.cached_input_tokens),
        cache_write_tokens: change(usage.cache_write_tokens),
        reasoning_tokens: change(usage.reasoning_tokens),
    }
}

fn set_usage(response: &mut ModelResponse, change: impl Fn(TokenUsage) -> TokenUsage) {
    response.usage = change(response.usage);
    let usage = response.usage;
    for attempt in &mut response.attempts {
        attempt.metering = Metering::Tokens(usage);
    }
}

fn set_cost(response: &mut ModelResponse, change: impl Fn(Option<u64>) -> Option<u64>) {
    response.cost_nano_usd = change(response.cost_nano_usd);
    let cost = response.cost_nano_usd;
    response.attempts.iter_mut().for_each(|attempt| attempt.cost_nano_usd = cost);
}

fn spoiled_failure(
    fault: Fault,
    mut failure: PortFailure,
    request: &ModelRequest,
) -> Result<ModelResponse, PortFailure> {
    match fault {
        Fault::FlattensKinds => failure.kind = PortFailureKind::Internal,
        Fault::TakesCutsForAnswers if failure.code == "CUT" => {
            failure.kind = PortFailureKind::Unavailable;
        }
        Fault::LiesNotCommitted => failure.commit = CommitDisposition::NotCommitted,
        Fault::LiesUnknown => failure.commit = CommitDisposition::Unknown,
        Fault::LosesRetryAfter => failure.retry_after = None,
        Fault::NeverRetryable => failure.retryable = false,
        Fault::AlwaysRetryable => failure.retryable = true,
        Fault::ForgetsAttempts => failure.attempts.clear(),
        Fault::EchoesRequests => {
            failure.message = format!("{} in reply to {:?}", failure.message, request.messages);
        }
        Fault::AnswersWhenCut if failure.commit == CommitDisposition::Unknown => {
            return Ok(ModelResponse {
                output: vec![ModelContent::text("half of it")],
                finish: ModelFinish::Stop,
                usage: TokenUsage::default(),
                cost_nano_usd: None,
                attempts: failure.attempts,
            });
        }
        _ => {}
    }
    Err(failure)
}
