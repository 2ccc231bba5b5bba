//! Decides what is left of a run when it has ended.
//!
//! Knows nothing about how it got there. Invariant: every ending gives the whole of it.

use std::sync::Arc;

use runtime_ports::{
    ArtifactDigest, CommitDisposition, PortFailure, TokenUsage, ToolDirective, Transcript,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::{CallResult, Ledger, counts::compact_usage};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// With its answer.
    Completed,
    /// With a question to the user.
    WaitUser,
    /// With its cycles used up.
    MaxCycles,
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed,
    /// A budget was used up.
    BudgetExhausted,
}

/// What went wrong with a run.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[error("{code}: {message}")]
#[serde(rename_all = "camelCase")]
pub struct RunError {
    /// Stable identifier of the reason.
    pub code: Arc<str>,
    /// For a human.
    pub message: Arc<str>,
    /// The failure of the port, when it was one.
    pub failure: Option<Box<PortFailure>>,
}

/// One cycle, as far as it got. What was said is in the history, at `messages`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CycleRecord {
    /// From 1.
    pub cycle: u32,
    /// Where its messages are in the history, as (first, one after the last): the answer, the
    /// results, and what followed.
    pub messages: (usize, usize),
    /// Whether its context was compacted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub memory_compacted: bool,
    /// Tokens of the answered model call.
    #[serde(with = "compact_usage")]
    pub token_usage: TokenUsage,
    /// The results of its calls, in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ToolRecord>,
}

/// What is kept of a result beside its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRecord {
    /// The call that it answers, as a hook or tool named it.
    pub tool_call_id: Arc<str>,
    /// Code of the error, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<Arc<str>>,
    /// What it asked of the run.
    #[serde(default, skip_serializing_if = "is_continue")]
    pub directive: ToolDirective,
    /// Facts for the host, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Arc<Map<String, Value>>>,
    /// Whether the effect took place, where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitDisposition>,
    /// Where the whole output is, when the history shows a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactDigest>,
}

impl ToolRecord {
    pub(crate) fn of(result: &CallResult) -> Self {
        Self {
            tool_call_id: Arc::clone(&result.tool_call_id),
            error_code: result.error_code.clone(),
            directive: result.directive,
            // Most results have none, and a record is kept as long as its run.
            metadata: Some(&result.metadata).filter(|facts| !facts.is_empty()).cloned(),
            commit: result.commit,
            artifact: result.artifact,
        }
    }
}

fn is_continue(directive: &ToolDirective) -> bool {
    *directive == ToolDirective::Continue
}

/// A steering message that was never applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReturnedSteering {
    /// Which.
    pub steering_id: u64,
    /// What was said.
    pub prompt: Arc<str>,
}

/// What is left of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Names the run.
    pub run_id: Arc<str>,
    /// How it ended.
    pub status: RunStatus,
    /// The answer; of a run at its cycle limit, what the model said last.
    pub final_answer: Option<Arc<str>>,
    /// What a waiting run waits for.
    pub wait_reason: Option<Arc<str>>,
    /// What went wrong, unless the run completed or waits.
    pub error: Option<RunError>,
    /// The whole history.
    pub history: Transcript,
    /// What stands for the history in requests, when it is not the history itself; a further run
    /// goes on with both.
    pub context: Option<crate::CarriedContext>,
    /// What the run and its children used.
    pub spent: crate::Spent,
    /// The budget that ended the run, if one did.
    pub shortage: Option<crate::Shortage>,
    /// The answer as JSON, when the agent has a schema for it.
    pub answer: Option<Value>,
    /// Digest of the resources, when some were loaded; lowercase hex.
    pub resources_digest: Option<Arc<str>>,
    /// What went wrong without ending the run.
    pub warnings: Vec<Arc<str>>,
    /// The cycles, as far as they got.
    pub cycles: Vec<CycleRecord>,
    /// Tokens of all attempts together; unknown where one is unknown.
    pub usage: TokenUsage,
    /// Every attempt to call the model, and what is known of all together.
    pub ledger: Ledger,
    /// What the tools shared.
    pub shared_state: Arc<Map<String, Value>>,
    /// What was said to the run and never reached the model.
    pub returned_steering: Vec<ReturnedSteering>,
    /// The task's own metadata.
    pub metadata: Arc<Map<String, Value>>,
}

impl RunError {
    pub(crate) fn new(code: &str, message: impl Into<Arc<str>>) -> Self {
        Self { code: code.into(), message: message.into(), failure: None }
    }

    pub(crate) fn of_port(code: &str, failure: PortFailure) -> Self {
        let message = failure.to_string().into();
        Self { code: code.into(), message, failure: Some(Box::new(failure)) }
    }
}
