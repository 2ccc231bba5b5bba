//! Decides how the course of one provider turn is written down before it is played.
//!
//! Knows nothing about who plays it. Invariant: nothing follows a step that ends the turn, and
//! what is expected of an answer stands beside the call that it answers.

use std::{fmt, time::Duration};

use runtime_ports::{AgentTurnEvent, PortFailure, RequestMeter, TokenUsage, ToolResult};
use serde_json::{Value, json};

/// One step of a [`TurnScript`].
#[derive(Debug, Clone, PartialEq)]
pub enum TurnStep {
    /// Gives this event. Never a tool call or a completion: these have steps of their own.
    Event(AgentTurnEvent),
    /// Gives a tool call, which must then be answered exactly once.
    Call(ScriptedCall),
    /// Ends the turn with an answer.
    Complete {
        /// The final answer.
        answer: String,
        /// What the turn reports about its tokens.
        usage: ScriptedUsage,
    },
    /// Ends the turn with a failure, and its receipt in it.
    Fail(PortFailure),
    /// Ends the turn without a terminal event.
    End,
    /// Ends the request at hand; the receipt lists it like this.
    Request(RequestMeter),
    /// Gives nothing more until the turn is cancelled or its time is up.
    Stall,
    /// Lets time pass before the next step.
    Delay(Duration),
}

/// A tool call of a script, and what is to become of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    /// Identity of the call.
    pub call_id: String,
    /// Name of the provider tool.
    pub tool: String,
    /// Arguments, as the model wrote them.
    pub arguments: Value,
    /// The only answer that passes; `None` takes any.
    pub expected: Option<ToolResult>,
    /// The failure of `respond`; `None` takes the answer.
    pub refusal: Option<PortFailure>,
}

/// What a completion reports about tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedUsage {
    /// The latest `UsageUpdated` of the turn, or [`TurnScript::USAGE`] when there was none.
    Latest,
    /// Exactly this.
    Exactly(TokenUsage),
    /// Nothing.
    Withheld,
}

/// How `start_agent_turn` ends for a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Beginning {
    Starts,
    Refused(PortFailure),
    FailsWithReceipt(PortFailure),
}

/// The course of one turn, step by step. `ModelContextSubmitted` needs no step: it always comes
/// first.
///
/// A script must be played to its last step, and not beyond it, unless it is [`Self::optional`].
/// A script without a terminal step is one whose turn the host is expected to leave.
///
/// # Panics
/// The methods that add steps panic when the script has already ended.
///
/// # Examples
/// ```
/// use in_memory_fakes::TurnScript;
/// use serde_json::json;
///
/// let script = TurnScript::new()
///     .text("Let me look. ")
///     .ktool("list_files", json!({ "path": "." }), "call-1")
///     .answered(true, "notes.md")
///     .complete("There is one file.");
/// assert_eq!(script.steps().len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TurnScript {
    beginning: Beginning,
    steps: Vec<TurnStep>,
    thread: bool,
    optional: bool,
    finish_refusal: Option<PortFailure>,
    receipt_usage: Option<TokenUsage>,
}

impl TurnScript {
    /// What a completed turn reports when the script says nothing about tokens.
    pub const USAGE: TokenUsage = TokenUsage {
        input_tokens: Some(10),
        output_tokens: Some(5),
        cached_input_tokens: None,
        cache_write_tokens: None,
        reasoning_tokens: None,
    };

    /// A turn that starts and has no step yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            beginning: Beginning::Starts,
            steps: Vec::new(),
            thread: true,
            optional: false,
            finish_refusal: None,
            receipt_usage: None,
        }
    }

    /// A start that is refused: nothing started, no receipt.
    #[must_use]
    pub fn refuse_start(failure: PortFailure) -> Self {
        Self { beginning: Beginning::Refused(failure), ..Self::new() }
    }

    /// A start that fails after the provider may have been reached: its receipt is in the failure.
    #[must_use]
    pub fn fail_start(failure: PortFailure) -> Self {
        Self { beginning: Beginning::FailsWithReceipt(failure), ..Self::new() }
    }

    /// Gives `event`.
    ///
    /// # Panics
    /// For a tool call or a completion (use [`Self::call`], [`Self::complete`]).
    #[must_use]
    pub fn event(self, event: AgentTurnEvent) -> Self {
        let has_own_step =
            matches!(event, AgentTurnEvent::ToolCall { .. } | AgentTurnEvent::Completed { .. });
        assert!(!has_own_step, "a script writes this event as call(..) or complete(..)");
        self.step(TurnStep::Event(event))
    }

    /// Gives a piece of answer text.
    #[must_use]
    pub fn text(self, delta: impl Into<String>) -> Self {
        self.event(AgentTurnEvent::TextDelta(delta.into()))
    }

    /// Gives a piece of reasoning text.
    #[must_use]
    pub fn reasoning(self, delta: impl Into<String>) -> Self {
        self.event(AgentTurnEvent::ReasoningDelta(delta.into()))
    }

    /// Reports the tokens of the turn so far.
    #[must_use]
    pub fn usage(self, usage: TokenUsage) -> Self {
        self.event(AgentTurnEvent::UsageUpdated(usage))
    }

    /// Calls the provider tool `tool`.
    #[must_use]
    pub fn call(
        self,
        tool: impl Into<String>,
        arguments: Value,
        call_id: impl Into<String>,
    ) -> Self {
        let (tool, call_id) = (tool.into(), call_id.into());
        let call = ScriptedCall { call_id, tool, arguments, expected: None, refusal: None };
        self.step(TurnStep::Call(call))
    }

    /// Calls the application tool `name` through the one bridge tool, `call_ktool`.
    #[must_use]
    pub fn ktool(self, name: &str, arguments: Value, call_id: impl Into<String>) -> Self {
        self.call("call_ktool", json!({ "name": name, "arguments": arguments }), call_id)
    }

    /// Expects the call just written to be answered so; any other answer panics.
    ///
    /// # Panics
    /// When the last step is no call.
    #[must_use]
    pub fn answered(mut self, success: bool, text: impl Into<String>) -> Self {
        self.last_call().expected = Some(ToolResult { success, text: text.into() });
        self
    }

    /// Makes `respond` fail for the call just written.
    ///
    /// # Panics
    /// When the last step is no call.
    #[must_use]
    pub fn answer_refused(mut self, failure: PortFailure) -> Self {
        self.last_call().refusal = Some(failure);
        self
    }

    /// Completes with `answer`, reporting the latest usage, or [`Self::USAGE`].
    #[must_use]
    pub fn complete(self, answer: impl Into<String>) -> Self {
        self.completed(answer.into(), ScriptedUsage::Latest)
    }

    /// Completes with `answer` and exactly this usage.
    #[must_use]
    pub fn complete_with_usage(self, answer: impl Into<String>, usage: TokenUsage) -> Self {
        self.completed(answer.into(), ScriptedUsage::Exactly(usage))
    }

    /// Completes with `answer`; the completion reports no usage.
    #[must_use]
    pub fn complete_unmetered(self, answer: impl Into<String>) -> Self {
        self.completed(answer.into(), ScriptedUsage::Withheld)
    }

    /// Fails with `failure`, the settled receipt in it.
    #[must_use]
    pub fn fail(self, failure: PortFailure) -> Self {
        self.step(TurnStep::Fail(failure))
    }

    /// Ends without a terminal event.
    #[must_use]
    pub fn end(self) -> Self {
        self.step(TurnStep::End)
    }

    /// Gives nothing more until the turn is cancelled or its time is up.
    #[must_use]
    pub fn stall(self) -> Self {
        self.step(TurnStep::Stall)
    }

    /// Lets `wait` pass before the next step.
    #[must_use]
    pub fn delay(self, wait: Duration) -> Self {
        self.step(TurnStep::Delay(wait))
    }

    /// Ends the request at hand, which the receipt then lists like this. With such steps the
    /// receipt lists the turn's requests one by one, the one in flight included, and sums them;
    /// `max_requests` holds. Without any, it lists one.
    #[must_use]
    pub fn request(self, meter: RequestMeter) -> Self {
        self.step(TurnStep::Request(meter))
    }

    /// A provider that names no thread: there is nothing to continue.
    #[must_use]
    pub fn without_thread(mut self) -> Self {
        self.thread = false;
        self
    }

    /// Makes every `finish_unavailable` that would have to settle the turn fail; the receipt is
    /// then settled when the turn is dropped.
    #[must_use]
    pub fn fail_finish(mut self, failure: PortFailure) -> Self {
        self.finish_refusal = Some(failure);
        self
    }

    /// A turn whose receipt knows these tokens although no event reports any.
    #[must_use]
    pub fn metered_in_receipt_only(mut self, usage: TokenUsage) -> Self {
        self.receipt_usage = Some(usage);
        self
    }

    /// A script that may stay unused, wholly or from some step on: for tests that drop or cancel
    /// at any point.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The steps so far.
    #[must_use]
    pub fn steps(&self) -> &[TurnStep] {
        &self.steps
    }

    pub(crate) const fn beginning(&self) -> &Beginning {
        &self.beginning
    }

    pub(crate) const fn has_thread(&self) -> bool {
        self.thread
    }

    pub(crate) fn lists_requests(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, TurnStep::Request(_)))
    }

    pub(crate) const fn is_optional(&self) -> bool {
        self.optional
    }

    pub(crate) const fn finish_refusal(&self) -> Option<&PortFailure> {
        self.finish_refusal.as_ref()
    }

    pub(crate) const fn receipt_usage(&self) -> Option<TokenUsage> {
        self.receipt_usage
    }

    fn completed(self, answer: String, usage: ScriptedUsage) -> Self {
        self.step(TurnStep::Complete { answer, usage })
    }

    fn step(mut self, step: TurnStep) -> Self {
        assert!(self.beginning == Beginning::Starts, "a turn that does not start has no steps");
        assert!(
            !self.steps.last().is_some_and(TurnStep::ends_turn),
            "the script has ended: {self}"
        );
        self.steps.push(step);
        self
    }

    fn last_call(&mut self) -> &mut ScriptedCall {
        match self.steps.last_mut() {
            Some(TurnStep::Call(call)) => call,
            _ => panic!("an answer is described right after its call"),
        }
    }
}

impl Default for TurnScript {
    fn default() -> Self {
        Self::new()
    }
}

impl TurnStep {
    const fn ends_turn(&self) -> bool {
        matches!(self, Self::Complete { .. } | Self::Fail(_) | Self::End | Self::Stall)
    }
}

/// One line a step.
impl fmt::Display for TurnScript {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.beginning {
            Beginning::Starts => {}
            Beginning::Refused(failure) => writeln!(formatter, "  start refused: {failure}")?,
            Beginning::FailsWithReceipt(failure) => {
                writeln!(formatter, "  start fails: {failure}")?
            }
        }
        self.steps.iter().try_for_each(|step| writeln!(formatter, "  {step}"))
    }
}

impl fmt::Display for TurnStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => write!(formatter, "event {event:?}"),
            Self::Call(call) => write!(formatter, "call {} as {}", call.tool, call.call_id),
            Self::Complete { answer, .. } => write!(formatter, "complete {answer:?}"),
            Self::Fail(failure) => write!(formatter, "fail: {failure}"),
            Self::End => formatter.write_str("end without a terminal event"),
            Self::Request(meter) => write!(formatter, "request ends, {:?}", meter.end),
            Self::Stall => formatter.write_str("stall"),
            Self::Delay(wait) => write!(formatter, "delay {wait:?}"),
        }
    }
}
