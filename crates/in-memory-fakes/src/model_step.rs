//! Decides what one step of a model's script does.
//!
//! Knows nothing about the request that it answers. Invariant: what a step does not state is
//! unknown, never zero.

use std::{fmt::Write as _, time::Duration};

use runtime_ports::{
    Metering, ModelContent, ModelFinish, ModelResponse, PortFailure, RequestMeter, TokenUsage,
    TurnEnd,
};
use serde_json::Value;

use crate::{
    delta_log::{RecordedDelta, deltas_of},
    script::Scripted,
};

/// One step of a model's script: what the model does when it is called the next time.
///
/// A step runs in this order: [`delay`](Self::delay), then its deltas when the call is streamed,
/// then its end (an answer, a failure or a stall).
///
/// ```
/// use in_memory_fakes::ModelStep;
/// use serde_json::json;
///
/// let script = [
///     ModelStep::tool_call("call-1", "list_files", json!({ "path": "." })).usage(120, 9),
///     ModelStep::text("There are two files.").usage(180, 6).in_pieces(5),
/// ];
/// # drop(script);
/// ```
#[derive(Debug, Clone)]
pub struct ModelStep {
    output: Output,
    finish: Option<ModelFinish>,
    usage: TokenUsage,
    cost_nano_usd: Option<u64>,
    attempts: Option<Vec<RequestMeter>>,
    verbatim: bool,
    streamed: Streamed,
    delay: Duration,
    end: StepEnd,
}

#[derive(Debug, Clone)]
enum Output {
    Said(Vec<ModelContent>),
    RepeatedCalls,
}

#[derive(Debug, Clone)]
enum Streamed {
    Whole,
    Pieces(usize),
    Scripted(Vec<RecordedDelta>),
}

#[derive(Debug, Clone)]
pub(crate) enum StepEnd {
    Answer,
    FailBeforeSending(PortFailure),
    StallBeforeSending,
    Fail(PortFailure),
    Stall,
}

impl ModelStep {
    fn saying(content: Vec<ModelContent>) -> Self {
        Self {
            output: Output::Said(content),
            finish: None,
            usage: TokenUsage::default(),
            cost_nano_usd: None,
            attempts: None,
            verbatim: false,
            streamed: Streamed::Whole,
            delay: Duration::ZERO,
            end: StepEnd::Answer,
        }
    }

    /// Answers with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::saying(vec![ModelContent::text(text)])
    }

    /// Answers with nothing at all.
    #[must_use]
    pub fn empty() -> Self {
        Self::saying(Vec::new())
    }

    /// Calls a tool. Add more with [`and_call`](Self::and_call).
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self::empty().and_call(id, name, arguments)
    }

    /// Answers with reasoning that goes back to `issuer`. Add what follows with
    /// [`and_text`](Self::and_text) or [`and_call`](Self::and_call).
    pub fn reasoning(issuer: impl Into<String>, text: impl Into<String>, opaque: Value) -> Self {
        let (issuer, text) = (issuer.into(), text.into());
        Self::saying(vec![ModelContent::Reasoning { issuer, text, opaque }])
    }

    /// Makes the tool calls of the last answer again, under the same ids.
    #[must_use]
    pub fn repeat_calls() -> Self {
        Self { output: Output::RepeatedCalls, ..Self::empty() }
    }

    /// Answers with exactly this response, attempts included, however dishonest it is.
    #[must_use]
    pub fn response(response: ModelResponse) -> Self {
        Self {
            finish: Some(response.finish),
            usage: response.usage,
            cost_nano_usd: response.cost_nano_usd,
            attempts: Some(response.attempts),
            verbatim: true,
            ..Self::saying(response.output)
        }
    }

    /// Fails before anything is sent: no delta, no attempt.
    #[must_use]
    pub fn fail_before_sending(failure: PortFailure) -> Self {
        Self { end: StepEnd::FailBeforeSending(failure), ..Self::empty() }
    }

    /// Never gets a connection: nothing is sent until the operation is cancelled or its deadline
    /// passes; then it is not committed.
    #[must_use]
    pub fn stall_before_sending() -> Self {
        Self { end: StepEnd::StallBeforeSending, ..Self::empty() }
    }

    /// Fails after the request reached the provider. Unless the failure lists its attempts, one is
    /// listed without metering, or with what [`usage`](Self::usage) says.
    #[must_use]
    pub fn fail(failure: PortFailure) -> Self {
        Self { end: StepEnd::Fail(failure), ..Self::empty() }
    }

    /// Sends, and hears nothing until the operation is cancelled or its deadline passes; then the
    /// commit is unknown.
    #[must_use]
    pub fn stall() -> Self {
        Self { end: StepEnd::Stall, ..Self::empty() }
    }

    /// Also answers with text.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.and(ModelContent::text(text))
    }

    /// Also calls a tool.
    #[must_use]
    pub fn and_call(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: Value,
    ) -> Self {
        self.and(ModelContent::ToolUse { id: id.into(), name: name.into(), arguments })
    }

    /// Also answers with this content.
    #[must_use]
    pub fn and(mut self, content: ModelContent) -> Self {
        match &mut self.output {
            Output::Said(output) => output.push(content),
            Output::RepeatedCalls => self.output = Output::Said(vec![content]),
        }
        self
    }

    /// Reports these input and output tokens. Without it, nothing is reported.
    #[must_use]
    pub const fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage.input_tokens = Some(input_tokens);
        self.usage.output_tokens = Some(output_tokens);
        self
    }

    /// Reports exactly this usage, `TokenUsage::default()` for none.
    #[must_use]
    pub const fn token_usage(mut self, usage: TokenUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Says what the request cost, in nano-dollars.
    #[must_use]
    pub const fn cost(mut self, nano_usd: u64) -> Self {
        self.cost_nano_usd = Some(nano_usd);
        self
    }

    /// Ends for this reason. Without it: `ToolCalls` when there are calls, else `Stop`.
    #[must_use]
    pub const fn finish(mut self, finish: ModelFinish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Ends early: `Length`, and no tool call reaches the answer (deltas still show them).
    #[must_use]
    pub const fn cut(self) -> Self {
        self.finish(ModelFinish::Length)
    }

    /// Lists exactly these attempts.
    #[must_use]
    pub fn attempts(mut self, attempts: Vec<RequestMeter>) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Streams texts and arguments in pieces of at most `characters` each.
    #[must_use]
    pub fn in_pieces(mut self, characters: usize) -> Self {
        self.streamed = Streamed::Pieces(characters);
        self
    }

    /// Streams exactly these deltas, whether or not they agree with the answer.
    #[must_use]
    pub fn deltas(mut self, deltas: impl IntoIterator<Item = RecordedDelta>) -> Self {
        self.streamed = Streamed::Scripted(deltas.into_iter().collect());
        self
    }

    /// Waits this long after sending, before the first delta.
    #[must_use]
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Streams its deltas, then stalls instead of ending.
    #[must_use]
    pub fn then_stall(mut self) -> Self {
        self.end = StepEnd::Stall;
        self
    }

    /// Streams its deltas, then fails instead of answering.
    #[must_use]
    pub fn then_fail(mut self, failure: PortFailure) -> Self {
        self.end = StepEnd::Fail(failure);
        self
    }

    pub(crate) const fn waits(&self) -> Duration {
        self.delay
    }

    pub(crate) const fn end(&self) -> &StepEnd {
        &self.end
    }

    /// Puts the calls of the last answer in the place of [`Output::RepeatedCalls`].
    pub(crate) fn repeating(mut self, last_calls: &[ModelContent]) -> Self {
        if matches!(self.output, Output::RepeatedCalls) {
            self.output = Output::Said(last_calls.to_vec());
        }
        self
    }

    fn said(&self) -> &[ModelContent] {
        match &self.output {
            Output::Said(output) => output,
            Output::RepeatedCalls => &[],
        }
    }

    pub(crate) fn streamed_deltas(&self) -> Vec<RecordedDelta> {
        match &self.streamed {
            Streamed::Whole => deltas_of(self.said(), usize::MAX),
            Streamed::Pieces(characters) => deltas_of(self.said(), *characters),
            Streamed::Scripted(deltas) => deltas.clone(),
        }
    }

    pub(crate) fn answer(&self, provider_request_id: String) -> ModelResponse {
        let calls = self.said().iter().any(is_call);
        let natural = if calls { ModelFinish::ToolCalls } else { ModelFinish::Stop };
        let finish = self.finish.unwrap_or(natural);
        let kept = |content: &&ModelContent| {
            self.verbatim || finish != ModelFinish::Length || !is_call(content)
        };
        let output = self.said().iter().filter(kept).cloned().collect();
        let end = if finish.is_complete() { TurnEnd::Completed } else { TurnEnd::Failed };
        let attempts = self.attempts_or(provider_request_id, end);
        ModelResponse {
            output,
            finish,
            usage: self.usage,
            cost_nano_usd: self.cost_nano_usd,
            attempts,
        }
    }

    /// The failure with the attempt that it took, unless it lists its own.
    pub(crate) fn failed(&self, failure: PortFailure, provider_request_id: String) -> PortFailure {
        if !failure.attempts.is_empty() {
            return failure;
        }
        let end = TurnEnd::of_failure(failure.kind);
        failure.with_attempts(self.attempts_or(provider_request_id, end))
    }

    fn attempts_or(&self, provider_request_id: String, end: TurnEnd) -> Vec<RequestMeter> {
        let unreported = self.usage.is_unreported();
        let metering =
            if unreported { Metering::Unavailable } else { Metering::Tokens(self.usage) };
        self.attempts.clone().unwrap_or_else(|| {
            let provider_request_id = Some(provider_request_id);
            let cost_nano_usd = self.cost_nano_usd;
            vec![RequestMeter { provider_request_id, metering, end, cost_nano_usd }]
        })
    }
}

fn is_call(content: &ModelContent) -> bool {
    matches!(content, ModelContent::ToolUse { .. })
}

impl Scripted for ModelStep {
    fn label(&self) -> String {
        let mut label = match &self.output {
            Output::RepeatedCalls => "repeat the calls".to_owned(),
            Output::Said(output) => {
                output.iter().map(content_label).collect::<Vec<_>>().join(" + ")
            }
        };
        if let Some(finish) = self.finish {
            let _ = write!(label, " ({finish:?})");
        }
        let end = match &self.end {
            StepEnd::Answer => String::new(),
            StepEnd::FailBeforeSending(failure) => format!("refuse {}", failure.code),
            StepEnd::StallBeforeSending => "connect for ever".to_owned(),
            StepEnd::Fail(failure) => format!("fail {}", failure.code),
            StepEnd::Stall => "stall".to_owned(),
        };
        match (label.is_empty(), end.is_empty()) {
            (true, true) => "answer nothing".to_owned(),
            (true, false) => end,
            (false, true) => label,
            (false, false) => format!("{label}, then {end}"),
        }
    }
}

fn content_label(content: &ModelContent) -> String {
    match content {
        ModelContent::Text { text } => format!("text {:?}", shortened(text)),
        ModelContent::ToolUse { id, name, .. } => format!("call {name} as {id}"),
        ModelContent::ToolResult { tool_use_id, .. } => format!("result of {tool_use_id}"),
        ModelContent::Image { .. } => "image".to_owned(),
        ModelContent::Reasoning { .. } => "reasoning".to_owned(),
    }
}

/// At most 40 characters, for messages.
pub(crate) fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(40).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
