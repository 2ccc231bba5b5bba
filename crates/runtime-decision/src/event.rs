//! Decides what a run tells those who watch it.
//!
//! Knows nobody who watches. Names and fields are a promise, held by a golden file. Invariant:
//! sequence numbers have no gap, and nothing follows a terminal event.

use std::sync::Arc;

use runtime_ports::{TokenUsage, ToolDirective};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Call, ResultStatus, RunIdentity};

/// Version of the events.
pub const EVENT_VERSION: u16 = 1;

/// An event in its envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// [`EVENT_VERSION`].
    pub version: u16,
    /// The names that all events of the run carry.
    #[serde(flatten)]
    pub identity: Arc<RunIdentity>,
    /// From 1, without gaps, over all segments of a run. A delta has that of the event before it.
    pub sequence: u64,
    /// Place among the deltas after that event, from 1; only deltas have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<u64>,
    /// In Unix milliseconds.
    pub at_ms: u64,
    /// The cycle, from 1; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u32>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// First of all.
    RunStarted {
        /// The model.
        model: Arc<str>,
        /// Where tools work.
        workspace: Option<Arc<str>>,
        /// Most cycles.
        max_cycles: u32,
    },
    /// Messages were added at the start of a cycle.
    CycleInjectedMessages {
        /// `before_cycle`, `sub_tasks` or `steering`.
        reason: Arc<str>,
        /// How many.
        message_count: usize,
    },
    /// A steering message was taken at the start of a cycle.
    SessionSteerDequeued {
        /// Which.
        steering_id: u64,
        /// What was said.
        prompt: Arc<str>,
    },
    /// Instructions and skills were loaded.
    ResourcesLoaded {
        /// SHA-256 of all of them, lowercase hex.
        digest: Arc<str>,
        /// How many instructions.
        instructions: usize,
        /// How many skills.
        skills: usize,
    },
    /// The context is about to be compacted.
    MemoryCompactStarted {
        /// Messages of the context.
        message_count: usize,
        /// Estimated tokens of the request.
        prompt_tokens: u64,
        /// Most tokens that a request may have; none when the window is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_tokens: Option<u64>,
    },
    /// The context was compacted; told only when it changed.
    MemoryCompactCompleted {
        /// Messages before.
        messages_before: usize,
        /// Messages after.
        messages_after: usize,
        /// Estimated tokens of the request, after.
        prompt_tokens: u64,
        /// The levels that made it smaller, mildest first.
        levels: Vec<Arc<str>>,
    },
    /// A sub-agent was started.
    SubRunStarted {
        /// The call that started it.
        tool_call_id: Arc<str>,
        /// Identity of its run.
        sub_run_id: Arc<str>,
        /// Which sub-agent.
        sub_agent_name: Arc<str>,
        /// What it shall do.
        task_id_hint: Arc<str>,
        /// Whether the caller goes on meanwhile.
        background: bool,
    },
    /// A sub-agent ended.
    SubRunCompleted {
        /// The call that started it.
        tool_call_id: Arc<str>,
        /// Identity of its run.
        sub_run_id: Arc<str>,
        /// Which sub-agent.
        sub_agent_name: Arc<str>,
        /// How it ended; none when nobody knows.
        status: Option<crate::RunStatus>,
        /// Its answer, or what went wrong.
        final_output: Arc<str>,
    },
    /// A cycle begins.
    CycleStarted {
        /// Most cycles.
        max_cycles: u32,
        /// Messages of the history.
        message_count: usize,
    },
    /// The model answered.
    CycleLlmResponse {
        /// The text of the answer; empty when there is none.
        assistant_message: Arc<str>,
        /// The calls, in the model's order.
        tool_calls: Arc<[Call]>,
        /// Their names.
        tool_call_names: Vec<Arc<str>>,
        /// How many.
        tool_call_count: usize,
        /// Whether the context of this cycle was compacted.
        memory_compacted: bool,
        /// Tokens of the call.
        token_usage: TokenUsage,
    },
    /// A call was reached.
    ToolCallPlanned {
        /// Name of the tool.
        tool_name: Arc<str>,
        /// As the model wrote them.
        tool_arguments: Arc<Value>,
        /// The call.
        tool_call_id: Arc<str>,
    },
    /// A tool was started.
    ToolCallStarted {
        /// Name of the tool.
        tool_name: Arc<str>,
        /// As the tool gets them.
        tool_arguments: Arc<Value>,
        /// The call.
        tool_call_id: Arc<str>,
    },
    /// A gated call waits for a decision.
    ApprovalRequested {
        /// The question.
        request_id: Arc<str>,
        /// The call.
        tool_call_id: Arc<str>,
        /// Name of the tool.
        tool_name: Arc<str>,
        /// The whole call in one line.
        preview: Arc<str>,
        /// What the decision is bound to.
        digest: Arc<str>,
    },
    /// It was decided, or it lapsed.
    ApprovalResolved {
        /// The question.
        request_id: Arc<str>,
        /// The call.
        tool_call_id: Arc<str>,
        /// Name of the tool.
        tool_name: Arc<str>,
        /// Whether the call may run.
        approved: bool,
        /// Code of the denial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_code: Option<Arc<str>>,
    },
    /// A call has its result.
    ToolResult {
        /// Name of the tool.
        tool_name: Arc<str>,
        /// As the tool got them.
        tool_arguments: Arc<Value>,
        /// The call.
        tool_call_id: Arc<str>,
        /// Whether it succeeded.
        status: ResultStatus,
        /// What it asks of the run.
        directive: ToolDirective,
        /// Code of the error, if it is one.
        error_code: Option<Arc<str>>,
        /// What the model is told.
        content: Arc<str>,
        /// Facts for the host.
        metadata: Arc<Map<String, Value>>,
    },
    /// A steering message interrupts a batch of tools.
    SessionSteerInterrupt {
        /// Which.
        steering_id: u64,
        /// The call after which it was found.
        after_tool_call_id: Arc<str>,
        /// Its tool.
        after_tool_name: Arc<str>,
        /// What was said.
        prompt: Arc<str>,
    },
    /// A batch of tools was interrupted.
    RunSteered {
        /// The call after which that was found.
        after_tool_call_id: Arc<str>,
        /// Its tool.
        after_tool_name: Arc<str>,
        /// Steering messages.
        prompt_count: usize,
        /// Steering messages and interruption messages together.
        steering_count: usize,
    },
    /// Last of a segment: the run waits to be resumed.
    RunSuspended {
        /// The questions that can be answered meanwhile.
        pending_approvals: Vec<Arc<str>>,
    },
    /// First of a further segment.
    RunResumed,
    /// Last: done.
    RunCompleted {
        /// The answer.
        final_answer: Arc<str>,
    },
    /// Last: the user is asked; the answer starts a new run.
    RunWaitUser {
        /// What for.
        wait_reason: Arc<str>,
    },
    /// Last: the cycles are used up.
    RunMaxCycles {
        /// What the model said last.
        final_answer: Arc<str>,
        /// Says so, and what to do.
        error: Arc<str>,
    },
    /// Last: cancelled.
    RunCancelled {
        /// Says so.
        error: Arc<str>,
    },
    /// Last: failed.
    RunFailed {
        /// What went wrong.
        error: Arc<str>,
        /// Its code.
        error_code: Arc<str>,
    },
    /// Last: a budget is used up.
    BudgetExhausted {
        /// Which.
        budget: Arc<str>,
        /// Says so, and what to do.
        error: Arc<str>,
        /// What it allows, in its unit: tokens, nano-dollars, calls, runs, levels, milliseconds.
        limit: u64,
        /// What counts as used of it.
        used: u64,
    },
    /// More of the answer. Deltas are no results, and not kept.
    AssistantDelta {
        /// A piece.
        text: Arc<str>,
    },
    /// More of the reasoning.
    ReasoningDelta {
        /// A piece.
        text: Arc<str>,
    },
    /// A call begins in the answer.
    ToolCallDelta {
        /// Place of the call in the answer, from 0.
        index: u32,
        /// The call.
        tool_call_id: Arc<str>,
        /// Name of the tool.
        tool_name: Arc<str>,
    },
    /// More of a call's arguments.
    ToolArgumentsDelta {
        /// Place of the call in the answer, from 0.
        index: u32,
        /// A piece of JSON text.
        fragment: Arc<str>,
    },
    /// Voids the deltas of this call before it.
    AnswerRestarted,
}

impl Event {
    /// Whether the run, or this segment of it, says nothing after this.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.is_terminal() || matches!(self, Self::RunSuspended { .. })
    }

    /// Whether the run is over for good.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        matches!(
            self,
            Self::RunCompleted { .. }
                | Self::RunWaitUser { .. }
                | Self::RunMaxCycles { .. }
                | Self::RunCancelled { .. }
                | Self::RunFailed { .. }
                | Self::BudgetExhausted { .. }
        )
    }

    /// Whether it is a piece of an answer that is being generated.
    #[must_use]
    pub const fn is_delta(&self) -> bool {
        matches!(
            self,
            Self::AssistantDelta { .. }
                | Self::ReasoningDelta { .. }
                | Self::ToolCallDelta { .. }
                | Self::ToolArgumentsDelta { .. }
                | Self::AnswerRestarted
        )
    }

    /// Name of the event, as it is serialised.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run_started",
            Self::CycleInjectedMessages { .. } => "cycle_injected_messages",
            Self::SessionSteerDequeued { .. } => "session_steer_dequeued",
            Self::ResourcesLoaded { .. } => "resources_loaded",
            Self::MemoryCompactStarted { .. } => "memory_compact_started",
            Self::MemoryCompactCompleted { .. } => "memory_compact_completed",
            Self::SubRunStarted { .. } => "sub_run_started",
            Self::SubRunCompleted { .. } => "sub_run_completed",
            Self::CycleStarted { .. } => "cycle_started",
            Self::CycleLlmResponse { .. } => "cycle_llm_response",
            Self::ToolCallPlanned { .. } => "tool_call_planned",
            Self::ToolCallStarted { .. } => "tool_call_started",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalResolved { .. } => "approval_resolved",
            Self::ToolResult { .. } => "tool_result",
            Self::SessionSteerInterrupt { .. } => "session_steer_interrupt",
            Self::RunSteered { .. } => "run_steered",
            Self::RunSuspended { .. } => "run_suspended",
            Self::RunResumed => "run_resumed",
            Self::RunCompleted { .. } => "run_completed",
            Self::RunWaitUser { .. } => "run_wait_user",
            Self::RunMaxCycles { .. } => "run_max_cycles",
            Self::RunCancelled { .. } => "run_cancelled",
            Self::RunFailed { .. } => "run_failed",
            Self::BudgetExhausted { .. } => "budget_exhausted",
            Self::AssistantDelta { .. } => "assistant_delta",
            Self::ReasoningDelta { .. } => "reasoning_delta",
            Self::ToolCallDelta { .. } => "tool_call_delta",
            Self::ToolArgumentsDelta { .. } => "tool_arguments_delta",
            Self::AnswerRestarted => "answer_restarted",
        }
    }
}
